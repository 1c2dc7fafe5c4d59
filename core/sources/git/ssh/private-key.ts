import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { ParsedKey } from 'ssh2';
import { errorMessage } from '../../../errors.ts';
import { ed25519AsOpenSSH, isEncryptedOpenSSH } from './openssh-key.ts';
import { printable } from './ssh-error.ts';

/**
 * A private key in any of the forms that ssh-keygen and openssl write: OpenSSH's own, PKCS#1, SEC 1
 * and PKCS#8; RSA, ECDSA and Ed25519; encrypted or not.
 * @throws Error `ssh: no key found` where there is none, or why it is of no use
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

/** The first private key among whatever else there is, such as EC parameters. */
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
  // Loaded where it is needed: most repositories are not fetched over SSH.
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

/** The forms that ssh2 reads. */
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
