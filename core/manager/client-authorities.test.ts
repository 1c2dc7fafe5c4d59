import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { ClientAuthorities, issueCertificateAuthority } from '../platform/certificates/index.ts';
import { followFile } from './client-authorities.ts';

let directory: string;
let file: string;
let stop: AbortController;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'client-authorities-'));
  file = join(directory, 'ca.crt');
  stop = new AbortController();
});

afterEach(async () => {
  stop.abort();
  await rm(directory, { recursive: true });
});

/** Looks again whenever it is told to. */
function follow(authorities: ClientAuthorities): { look: () => void; ended: Promise<void> } {
  let look = (): void => undefined;
  const clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: (_: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        look = resolve;
        signal?.addEventListener('abort', () => resolve());
      }),
  };
  const ended = followFile(authorities, file, { clock, logger: silentLogger, signal: stop.signal });
  return { look: () => look(), ended };
}

async function aCertificate(): Promise<string> {
  const hour = 3_600_000;
  const validity = { notBefore: Date.now() - hour, notAfter: Date.now() + hour };
  return (await issueCertificateAuthority(validity)).certificate;
}

test('a file is followed; what cannot be used leaves the authorities as they were', async () => {
  const [first, second] = [await aCertificate(), await aCertificate()];
  await writeFile(file, first);
  const authorities = new ClientAuthorities();
  const { look, ended } = follow(authorities);
  await expect.poll(() => authorities.pem).toBe(first);
  await writeFile(file, 'half written');
  look();
  await rm(file);
  look();
  await writeFile(file, second);
  await expect
    .poll(() => {
      look();
      return authorities.pem;
    })
    .toBe(second);
  stop.abort();
  await ended;
});

test.each([
  ['is missing', undefined, 'ENOENT'],
  ['holds none', 'no certificate', 'it holds no certificate in PEM form'],
])('a file that %s ends the start, in one sentence', async (_, content, reason) => {
  if (content !== undefined) await writeFile(file, content);
  await expect(follow(new ClientAuthorities()).ended).rejects.toThrow(
    new RegExp(`^cannot use --client-ca-file ".*": .*${reason}`),
  );
});
