import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { ParsedKey } from 'ssh2';
import { errorMessage } from '../../../errors.ts';
import { printable } from '../server-refusal.ts';

/**
 * Parses a private key in any format of ssh-keygen and openssl: OpenSSH's own, PKCS#1, SEC 1 and
 * PKCS#8; RSA, ECDSA and Ed25519; encrypted or not.
 * @throws Error `ssh: no key found` without a key, or the reason why it is unusable
 */
export async function parsePrivateKey(
  text: string,
  passphrase: string | undefined,
): Promise<ParsedKey> {
  const pem = findPrivateKey(text);
  if (pem === undefined) throw new Error('ssh: no key found');
  const encrypted = isEncrypted(pem);
  if (encrypted && passphrase === undefined) {
    throw new Error('ssh: this private key is passphrase protected');
  }
  try {
    return await parse(pem, passphrase);
  } catch (error) {
    const reason = errorMessage(error);
    if (error instanceof UnsupportedKeyError || /^Unsupported (cipher|kdf)/.test(reason)) {
      throw new Error(`ssh: unsupported private key: ${printable(reason)}`, { cause: error });
    }
    const message = encrypted
      ? 'ssh: the passphrase does not open the private key'
      : 'ssh: no key found';
    throw new Error(message, { cause: error });
  }
}

class UnsupportedKeyError extends Error {}

interface PEM {
  /** Such as `RSA PRIVATE KEY`. */
  readonly label: string;
  /** With its first and last line. */
  readonly text: string;
}

/** The first private key in a text with other blocks, such as EC parameters. */
function findPrivateKey(text: string): PEM | undefined {
  const head = '-----BEGIN ';
  for (let begin = text.indexOf(head); begin !== -1; begin = text.indexOf(head, begin + 1)) {
    const label = /^[A-Z0-9 ]{1,40}(?=-----)/.exec(
      text.slice(begin + head.length, begin + 80),
    )?.[0];
    if (label?.endsWith('PRIVATE KEY') !== true) continue;
    const tail = `-----END ${label}-----`;
    const end = text.indexOf(tail, begin);
    return end === -1 ? undefined : { label, text: text.slice(begin, end + tail.length) };
  }
  return undefined;
}

function isEncrypted({ label, text }: PEM): boolean {
  if (label.startsWith('OPENSSH')) return isEncryptedOpenSSH(text);
  return label.startsWith('ENCRYPTED') || text.includes('Proc-Type: 4,ENCRYPTED');
}

async function parse({ label, text }: PEM, passphrase: string | undefined): Promise<ParsedKey> {
  // Loaded when needed: most repositories are not fetched over SSH.
  const { default: ssh2 } = await import('ssh2');
  const isOpenSSH = label.startsWith('OPENSSH');
  const parsed = isOpenSSH
    ? ssh2.utils.parseKey(text, passphrase)
    : ssh2.utils.parseKey(convert(createPrivateKey({ key: text, ...options(passphrase) })));
  if (parsed instanceof Error) throw parsed;
  return parsed;
}

function options(passphrase: string | undefined): { readonly passphrase?: string } {
  return passphrase === undefined ? {} : { passphrase };
}

/** Converts to a format that ssh2 reads. */
function convert(key: KeyObject): string {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return key.export({ format: 'pem', type: 'pkcs1' }).toString();
    case 'ec':
      return key.export({ format: 'pem', type: 'sec1' }).toString();
    case 'ed25519':
      return ed25519AsOpenSSH(key);
    default:
      throw new UnsupportedKeyError(
        `its type is ${key.asymmetricKeyType}, but only RSA, ECDSA and Ed25519 keys are supported`,
      );
  }
}

const magic = Buffer.from('openssh-key-v1\0');

/** Whether a key in OpenSSH's format is encrypted: the name of its cipher follows the magic. */
function isEncryptedOpenSSH(pem: string): boolean {
  const data = Buffer.from(pem.replace(/-----[A-Z ]+-----/g, ''), 'base64');
  if (!data.subarray(0, magic.byteLength).equals(magic)) return false;
  const cipher = data.subarray(magic.byteLength);
  return !cipher.subarray(0, 8).equals(string('none'));
}

/** An Ed25519 key in OpenSSH's format (PROTOCOL.key), unencrypted. */
export function ed25519AsOpenSSH(key: KeyObject): string {
  const { d = '', x = '' } = key.export({ format: 'jwk' });
  const publicPart = Buffer.from(x, 'base64url');
  const publicKey = Buffer.concat([string('ssh-ed25519'), string(publicPart)]);
  const check = Buffer.alloc(8);
  const secret = Buffer.concat([
    check,
    publicKey,
    string(Buffer.concat([Buffer.from(d, 'base64url'), publicPart])),
    string(''),
  ]);
  const blockSize = 8;
  const missing = (blockSize - (secret.byteLength % blockSize)) % blockSize;
  const padding = Buffer.from(Array.from({ length: missing }, (_, index) => index + 1));
  const one = Buffer.from([0, 0, 0, 1]);
  const data = Buffer.concat([
    magic,
    string('none'),
    string('none'),
    string(''),
    one,
    string(publicKey),
    string(Buffer.concat([secret, padding])),
  ]);
  const lines = data.toString('base64').replace(/.{70}/g, '$&\n').trimEnd();
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

/** SSH's string: its length in four bytes, then the bytes. */
function string(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.byteLength);
  return Buffer.concat([length, bytes]);
}
