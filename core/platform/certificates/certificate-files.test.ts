import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { followCertificateFiles, readCertificateFiles } from './certificate-files.ts';
import { issueCertificateAuthority, type KeyPair } from './index.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rukpak-certs-'));
  return () => rm(folder, { recursive: true });
});

function aPair(): Promise<KeyPair> {
  return issueCertificateAuthority({ notBefore: Date.now(), notAfter: Date.now() + 3_600_000 });
}

async function write(pair: Partial<KeyPair>): Promise<void> {
  const { certificate, privateKey } = pair;
  if (certificate !== undefined) await writeFile(join(folder, 'tls.crt'), certificate);
  if (privateKey !== undefined) await writeFile(join(folder, 'tls.key'), privateKey);
}

test('a missing file and a wrong key are named with the folder', async () => {
  await expect(readCertificateFiles(folder)).rejects.toThrow(`no serving certificate in ${folder}`);
  const [one, two] = await Promise.all([aPair(), aPair()]);
  await write({ certificate: one.certificate, privateKey: two.privateKey });
  await expect(readCertificateFiles(folder)).rejects.toThrow('not a certificate and its key');
});

test('a new pair is taken once both of its files are there', async () => {
  const [one, two] = await Promise.all([aPair(), aPair()]);
  await write(one);
  const clock = new ManualClock();
  const abort = new AbortController();
  const seen: KeyPair[] = [];
  const options = { folder, clock, logger: silentLogger };
  const following = followCertificateFiles(options, (pair) => seen.push(pair), abort.signal);
  onTestFinished(async () => {
    abort.abort();
    await following;
  });
  await eventually(() => expect(seen).toEqual([one]));
  await write({ certificate: two.certificate });
  const turn = () => clock.advance(10_000);
  await eventually(turn);
  await write({ privateKey: two.privateKey });
  await eventually(() => {
    turn();
    expect(seen).toEqual([one, two]);
  });
});
