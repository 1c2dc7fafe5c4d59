import { expect, it } from 'vitest';
import { SharedWork } from './shared-work.ts';

function pending(): {
  work: (signal: AbortSignal) => Promise<string>;
  finish: PromiseWithResolvers<string>;
  signals: AbortSignal[];
} {
  const finish = Promise.withResolvers<string>();
  const signals: AbortSignal[] = [];
  return {
    finish,
    signals,
    work: (signal) => {
      signals.push(signal);
      return finish.promise;
    },
  };
}

it('does the same work once for all who ask at the same time', async () => {
  const shared = new SharedWork<string>();
  const { work, finish, signals } = pending();
  const { signal } = new AbortController();
  const both = Promise.all([shared.run('a', work, signal), shared.run('a', work, signal)]);
  finish.resolve('done');
  expect(await both).toEqual(['done', 'done']);
  expect(signals).toHaveLength(1);
  await shared.run('a', work, signal);
  expect(signals).toHaveLength(2);
});

it('does not mix up work of different keys', async () => {
  const shared = new SharedWork<string>();
  const { signal } = new AbortController();
  const both = [shared.run('a', async () => '1', signal), shared.run('b', async () => '2', signal)];
  expect(await Promise.all(both)).toEqual(['1', '2']);
});

it('goes on for the one who still waits', async () => {
  const shared = new SharedWork<string>();
  const { work, finish, signals } = pending();
  const leaving = new AbortController();
  const first = shared.run('a', work, leaving.signal);
  const second = shared.run('a', work, new AbortController().signal);
  const reason = new Error('not interested');
  leaving.abort(reason);
  await expect(first).rejects.toBe(reason);
  expect(signals[0]?.aborted).toBe(false);
  finish.resolve('done');
  expect(await second).toBe('done');
});

it('ends the work when nobody waits any more, and starts anew for the next', async () => {
  const shared = new SharedWork<string>();
  const { work, signals, finish } = pending();
  const leaving = new AbortController();
  const runs = [shared.run('a', work, leaving.signal), shared.run('a', work, leaving.signal)];
  leaving.abort(new Error('enough'));
  for (const run of runs) await expect(run).rejects.toThrow('enough');
  expect(signals[0]?.aborted).toBe(true);
  finish.resolve('late');
  expect(await shared.run('a', async () => 'new', new AbortController().signal)).toBe('new');
});

it('fails for all, and does not remember it', async () => {
  const shared = new SharedWork<string>();
  const { work, finish } = pending();
  const { signal } = new AbortController();
  const runs = [shared.run('a', work, signal), shared.run('a', work, signal)];
  finish.reject(new Error('broken'));
  for (const run of runs) await expect(run).rejects.toThrow('broken');
  expect(await shared.run('a', async () => 'well', signal)).toBe('well');
});
