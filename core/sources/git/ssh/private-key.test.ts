import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parsePrivateKey } from './private-key.ts';

const folder = mkdtempSync(join(tmpdir(), 'rukpak-key-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let keys = 0;

/** By the real ssh-keygen: the private key's text and the public key's type and blob. */
function sshKeygen(...arguments_: readonly string[]): {
  readonly text: string;
  readonly blob: string;
} {
  const file = join(folder, `k${keys++}`);
  execFileSync('ssh-keygen', ['-q', ...arguments_, '-f', file]);
  const [, blob = ''] = readFileSync(`${file}.pub`, 'utf8').split(' ');
  return { text: readFileSync(file, 'utf8'), blob };
}

const data = Buffer.from('what is signed');

async function isGood(text: string, passphrase?: string): Promise<boolean> {
  const key = await parsePrivateKey(text, passphrase);
  return key.isPrivateKey() && key.verify(data, key.sign(data));
}

// RSA keys of the shortest length that ssh-keygen makes: longer ones take it seconds.
describe.each([
  ['Ed25519', ['-t', 'ed25519']],
  ['RSA', ['-t', 'rsa', '-b', '1024']],
  ['RSA, PEM', ['-t', 'rsa', '-b', '1024', '-m', 'PEM']],
  ['RSA, PKCS#8', ['-t', 'rsa', '-b', '1024', '-m', 'PKCS8']],
  ['ECDSA', ['-t', 'ecdsa', '-b', '256']],
  ['ECDSA, PEM', ['-t', 'ecdsa', '-b', '384', '-m', 'PEM']],
  ['ECDSA, PKCS#8', ['-t', 'ecdsa', '-b', '521', '-m', 'PKCS8']],
])('%s', (_name, arguments_) => {
  test('open', async () => {
    const { text, blob } = sshKeygen(...arguments_, '-N', '');
    const key = await parsePrivateKey(text, undefined);
    expect(key.getPublicSSH().toString('base64')).toBe(blob);
    expect(await isGood(text)).toBe(true);
  });

  test('encrypted', async () => {
    // One round instead of 24: ssh2 derives the key in JavaScript.
    const { text } = sshKeygen(...arguments_, '-N', 'open sesame', '-a', '1');
    expect(await isGood(text, 'open sesame')).toBe(true);
    await expect(parsePrivateKey(text, undefined)).rejects.toThrow(
      'ssh: this private key is passphrase protected',
    );
    await expect(parsePrivateKey(text, 'wrong')).rejects.toThrow(
      'ssh: the passphrase does not open the private key',
    );
  });
});

test('Ed25519 in PKCS#8, which ssh-keygen does not write', async () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  expect(await isGood(privateKey.export({ format: 'pem', type: 'pkcs8' }).toString())).toBe(true);
  const encrypted = privateKey.export({
    format: 'pem',
    type: 'pkcs8',
    cipher: 'aes-256-cbc',
    passphrase: 'open sesame',
  });
  expect(await isGood(encrypted.toString(), 'open sesame')).toBe(true);
  await expect(parsePrivateKey(encrypted.toString(), 'wrong')).rejects.toThrow(
    'ssh: the passphrase does not open the private key',
  );
});

test('other text around it, and a passphrase that is not needed', async () => {
  const { text } = sshKeygen('-t', 'ed25519', '-N', '');
  const around = `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n`;
  expect(await isGood(`my key\r\n${around}${text.replaceAll('\n', '\r\n')}\n\n`)).toBe(true);
  expect(await isGood(text, 'not needed')).toBe(true);
});

test.each([
  '',
  'no key',
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA== public',
  '-----BEGIN OPENSSH PRIVATE KEY-----',
  '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----',
  '-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----',
  '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
])('no key: %j', async (text) => {
  await expect(parsePrivateKey(text, undefined)).rejects.toThrow('ssh: no key found');
});

test('a type that nobody uses for SSH', async () => {
  const { privateKey } = generateKeyPairSync('ed448');
  const text = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  await expect(parsePrivateKey(text, undefined)).rejects.toThrow(
    'ssh: unsupported private key: its type is ed448, but only RSA, ECDSA and Ed25519 keys are supported',
  );
});
