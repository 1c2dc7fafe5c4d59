// @module-tag process
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { deathOf, startLimited } from './limited-process.ts';

const program = `
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
process.once('message', ({ inside, outside, compiled }) => {
  const attempt = (work) => {
    try {
      work();
      return 'done';
    } catch ({ code }) {
      return code;
    }
  };
  const answers = {
    write: attempt(() => writeFileSync(inside, 'a')),
    read: attempt(() => readFileSync(inside)),
    readElsewhere: attempt(() => readFileSync(outside)),
    writeElsewhere: attempt(() => writeFileSync(outside, 'b')),
    writeCompiled: attempt(() => writeFileSync(compiled, 'b')),
    program: attempt(() => execFileSync('/bin/true')),
    thread: attempt(() => new Worker('0', { eval: true })),
    secret: process.env['RUKPAK_TEST_SECRET'] ?? 'none',
  };
  process.send(answers, () => process.disconnect());
});
`;

test('a process that reads what strangers wrote has its own files, and nothing else', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'limited-process-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const [mine, others] = await Promise.all(
    ['mine-', 'others-'].map((name) => mkdtemp(join(directory, name))),
  );
  const file = join(directory, 'program.mjs');
  const outside = join(others ?? '', 'token');
  await Promise.all([writeFile(file, program), writeFile(outside, 'secret')]);
  const compiled = join(directory, 'compiled');
  await mkdir(compiled);
  vi.stubEnv('RUKPAK_TEST_SECRET', 'secret').stubEnv('NODE_COMPILE_CACHE', compiled);
  onTestFinished(() => void vi.unstubAllEnvs());
  const access = { memoryMegabytes: 64, readable: [file], writable: [mine ?? ''] };
  const child = startLimited(file, access);
  const answer = Promise.withResolvers<unknown>();
  child.once('message', answer.resolve);
  child.send({ inside: join(mine ?? '', 'a'), outside, compiled: join(compiled, 'a') });
  const death = await deathOf(child);
  expect(death).toMatchObject({ code: 0 });
  expect(await answer.promise).toEqual({
    write: 'done',
    read: 'done',
    readElsewhere: 'ERR_ACCESS_DENIED',
    writeElsewhere: 'ERR_ACCESS_DENIED',
    writeCompiled: 'ERR_ACCESS_DENIED',
    program: 'ERR_ACCESS_DENIED',
    thread: 'ERR_ACCESS_DENIED',
    secret: 'none',
  });
  // What programs with credentials run comes from a folder that it cannot write to.
  expect(await readdir(`${compiled}-restricted`)).toHaveLength(1);
});
