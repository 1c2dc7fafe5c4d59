import type { KeyObject } from 'node:crypto';

const magic = Buffer.from('openssh-key-v1\0');

/** Whether a key in OpenSSH's own form is encrypted: the name of its cipher follows the magic. */
export function isEncryptedOpenSSH(pem: string): boolean {
  const data = Buffer.from(pem.replace(/-----[A-Z ]+-----/g, ''), 'base64');
  if (!data.subarray(0, magic.byteLength).equals(magic)) return false;
  const cipher = data.subarray(magic.byteLength);
  return !cipher.subarray(0, 8).equals(string('none'));
}

/** An Ed25519 key in OpenSSH's own form (PROTOCOL.key), not encrypted. */
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
