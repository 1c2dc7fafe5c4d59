import { describe, expect, test } from 'vitest';
import { readCorpus } from './corpus.ts';
import { bytesOf } from './fuzz-target.ts';
import { judge } from './judge.ts';
import { targets } from './targets/index.ts';

describe('what was found once stays mended', () => {
  test.for(targets)('$name', async (target) => {
    for (const { file, input } of await readCorpus(target.name)) {
      expect(await judge(target, input), file).toBeUndefined();
    }
  });
});

describe('what inputs are made from is taken, or refused in our own words', () => {
  test.for(targets)('$name', async (target) => {
    for (const seed of target.seeds) {
      expect(await judge(target, bytesOf(seed)), String(seed).slice(0, 200)).toBeUndefined();
    }
  });
});
