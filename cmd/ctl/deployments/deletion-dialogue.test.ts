import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { confirmDeletion } from './deletion-dialogue.ts';

afterEach(() => void vi.restoreAllMocks());

const flags = { output: 'text', systemNamespace: 'rukpak-system', timeout: 1 } as const;

/** Asks at a terminal, with stderr in a file. Without an answer, the input ends. */
async function asked(answer?: string): Promise<void> {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = new PassThrough();
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin as unknown as typeof process.stdin);
  vi.spyOn(process, 'stderr', 'get').mockReturnValue(stderr as unknown as typeof process.stderr);
  const confirmed = confirmDeletion('shop', flags, new AbortController().signal);
  const [question] = (await once(stderr, 'data')) as [Buffer];
  expect(question.toString()).toBe('Delete "shop"? [y/N] ');
  if (answer === undefined) stdin.end();
  else stdin.write(answer);
  await confirmed;
}

test('the end of input deletes nothing', async () => {
  await expect(asked()).rejects.toThrow('nothing is deleted');
});

test('no deletes nothing', async () => {
  await expect(asked('n\n')).rejects.toThrow('nothing is deleted');
});

test('yes deletes', async () => {
  await asked('y\n');
});
