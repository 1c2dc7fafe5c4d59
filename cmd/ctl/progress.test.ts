import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { progressOn } from './progress.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

async function linesOf(isTTY: boolean, milliseconds: number): Promise<string[]> {
  const lines: string[] = [];
  const progress = progressOn({ isTTY, write: (text) => lines.push(text) });
  const step = progress('waiting for it', async () => {
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    return 'done';
  });
  await vi.advanceTimersByTimeAsync(milliseconds);
  expect(await step).toBe('done');
  await vi.advanceTimersByTimeAsync(60_000);
  return lines;
}

describe('progressOn', () => {
  it('says nothing of what takes less than a second', async () => {
    expect(await linesOf(true, 900)).toEqual([]);
  });

  it('names what takes longer, and goes on doing so', async () => {
    expect(await linesOf(true, 21_000)).toEqual([
      'waiting for it …\n',
      'waiting for it … 10 s\n',
      'waiting for it … 20 s\n',
    ]);
  });

  it('says nothing where no person looks on', async () => {
    expect(await linesOf(false, 21_000)).toEqual([]);
  });

  it('stops where the step fails', async () => {
    const write = vi.fn();
    const step = progressOn({ isTTY: true, write })('x', async () => {
      throw new Error('no');
    });
    await expect(step).rejects.toThrow('no');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(write).not.toHaveBeenCalled();
  });
});
