import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runInProcess } from './run-in-process.ts';

const variable = 'RUKPAK_RUN_IN_PROCESS';

/** What a run changes, and must not leave behind. */
function state(): object {
  const properties = ['stdin', 'stdout', 'stderr', 'exit'].map((name) =>
    Object.getOwnPropertyDescriptor(process, name),
  );
  const listeners = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => process.listenerCount(name));
  return {
    properties,
    listeners,
    exitCode: process.exitCode,
    variable: process.env[variable],
    folder: process.cwd(),
  };
}

test('a run has its own input, output, environment and exit code, and leaves nothing behind', async () => {
  const before = state();
  const run = runInProcess(
    async () => {
      process.stdout.write(`${await text(process.stdin)} ${process.env[variable]}`);
      process.stderr.write(`wrong in ${process.cwd()}`);
      process.on('SIGTERM', () => undefined);
      process.exitCode = 3;
    },
    { input: 'in', env: { [variable]: 'set' }, cwd: '/' },
  );
  expect(await run).toEqual({ code: 3, stdout: 'in set', stderr: 'wrong in /' });
  expect(state()).toEqual(before);
});

test('nothing is written after process.exit, even by what catches its error', async () => {
  const run = runInProcess(async () => {
    try {
      process.exit(2);
    } catch {
      process.exitCode = 1;
      process.stderr.write('caught');
    }
  });
  expect(await run).toEqual({ code: 2, stdout: '', stderr: '' });
});

test('a warning of Node is on stderr, whoever caused one before', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.once('warning', () => resolve());
  process.emitWarning('a test causes this warning', 'ExampleWarning');
  await promise;
  const run = runInProcess(async () => process.emitWarning('too many', 'ExampleWarning'));
  expect((await run).stderr).toContain('ExampleWarning: too many\n');
});

test('runs that overlap wait for one another, also after one that fails', async () => {
  const before = state();
  const write = (word: string) => async () => {
    await delay(1);
    process.stdout.write(word);
  };
  const failing = runInProcess(async () => {
    throw new Error('unhandled');
  });
  const runs = Promise.all(['a', 'b'].map((word) => runInProcess(write(word))));
  await expect(failing).rejects.toThrow('unhandled');
  expect((await runs).map(({ stdout }) => stdout)).toEqual(['a', 'b']);
  expect(state()).toEqual(before);
});
