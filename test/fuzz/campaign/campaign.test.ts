// @module-tag process
// @module-tag long
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keep, readCorpus } from '../corpus.ts';
import type { Finding } from '../session.ts';
import { attack, type CampaignOptions } from './campaign.ts';

const module = new URL('planted.ts', import.meta.url).href;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rukpak-fuzz-test-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

interface Outcome {
  readonly inputs: number;
  /** What was kept of each problem, as text. */
  readonly found: Readonly<Record<string, string>>;
}

async function attackPlanted(
  target: string,
  bounds: Partial<Pick<CampaignOptions, 'time' | 'maxFindings' | 'endless'>> = {},
): Promise<Outcome> {
  const found: Record<string, string> = {};
  const onFinding = async ({ problem, input }: Finding): Promise<void> => {
    found[problem] = await readFile(await keep(target, input, folder), 'utf8');
  };
  const usual = { time: 60_000, maxFindings: 1 };
  const inputs = await attack({ module, target, seed: 1, onFinding, ...usual, ...bounds });
  return { inputs, found };
}

test('a parser that refuses in its own way is left in peace', async () => {
  const { inputs, found } = await attackPlanted('sound', { time: 3_000 });
  expect(found).toEqual({});
  expect(inputs).toBeGreaterThan(100);
  expect(await readCorpus('sound', folder)).toEqual([]);
});

test('each defect is found once, made small, and kept', async () => {
  const { found } = await attackPlanted('two-defects', { maxFindings: 2 });
  expect(Object.values(found).toSorted()).toEqual(['boom', 'wrong']);
  expect(Object.keys(found)).toContain('reads what is wrong');
  const kept = (await readCorpus('two-defects', folder)).map(({ input }) => input.toString());
  expect(kept.toSorted()).toEqual(['boom', 'wrong']);
});

test('an input that never ends is found by its processor time', async () => {
  const { found } = await attackPlanted('endless', { endless: 1 });
  expect(found).toEqual({ 'takes more than 1 s of processor time': expect.stringMatching(/spin/) });
});

test('an input that takes all memory ends its process alone', async () => {
  const { found } = await attackPlanted('hungry');
  expect(Object.keys(found).join()).toMatch(/ends the process \((SIG|exit code)/);
  expect(Object.values(found).join()).toMatch(/grow/);
});

test('a parser that changes a prototype is found', async () => {
  const { found } = await attackPlanted('polluting');
  expect(found).toEqual({ 'changes a prototype': 'proto' });
});

test('what this process takes is not counted as what a parser takes', async () => {
  const taken = Buffer.alloc(500 * 1024 * 1024, 1);
  const { inputs } = await attackPlanted('sound', { time: 500 });
  expect(inputs).toBeGreaterThan(0);
  expect(taken[0]).toBe(1);
});
