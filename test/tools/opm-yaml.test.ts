// @module-tag long
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../api/json.ts';
import { writeJson, writeYaml } from '../../catalog/blobs/index.ts';
import { opmBinary, runOpm } from '../helpers/opm.ts';

let dir: string;

beforeAll(async () => {
  await opmBinary();
  dir = await mkdtemp(join(tmpdir(), 'opm-yaml-'));
});

afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

/** What texts are put together from: all that YAML gives a meaning to, and what it escapes. */
const parts = [
  'a',
  'b',
  'word',
  ' ',
  ' ',
  '  ',
  ':',
  ': ',
  '#',
  ' #',
  '-',
  '- ',
  '---',
  '...',
  '/',
  '_',
  '\n',
  '\n\n',
  '\n ',
  ' \n',
  '\t',
  '\r',
  '"',
  "'",
  '\\',
  '\0',
  '\u001b',
  '=',
  '<<',
  '*',
  '&',
  '!',
  '%',
  '@',
  '`',
  '{',
  '}',
  '[',
  ']',
  ',',
  '?',
  '|',
  '>',
  '~',
  'null',
  'yes',
  'on',
  'y',
  '1',
  '0',
  '0x1f',
  '0b1',
  '0o7',
  '08',
  '1_000',
  '1e3',
  '.5',
  '.inf',
  '-.inf',
  '+1',
  '-1',
  '2020-01-01',
  '2020-1-1 1:2:3',
  '2020-13-01',
  '12:30',
  '1:2:3.5',
  'x'.repeat(90),
  'é',
  '日本',
  '🎉',
  '\u2028',
  '\u2029',
  '\u00a0',
  '\ufeff',
  '\ue000',
  '\ufffd',
  'some longer words here to be folded at the end of the line because it is long',
];
const numbers = [0, -0, 1.5, 1e21, 1e20, 123456789012, 1e6, 1234567.5, 1e-4, 1e-5, -5, 2 ** 63];
const leaves = [...numbers, true, false, null];

function oddValues(seed: number): readonly JsonObject[] {
  let state = seed;
  function below(limit: number): number {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * limit);
  }
  function oddText(): string {
    return Array.from({ length: below(below(12) + 1) }, () => parts[below(parts.length)]).join('');
  }
  function oddValue(depth: number): unknown {
    const kind = depth > 3 ? 0 : below(10);
    if (kind < 6) return below(7) === 0 ? leaves[below(leaves.length)] : oddText();
    const length = below(4);
    if (kind < 8) return Array.from({ length }, () => oddValue(depth + 1));
    return Object.fromEntries(
      Array.from({ length }, () => [
        below(50) === 0 ? 'k'.repeat(140) : oddText(),
        oddValue(depth + 1),
      ]),
    );
  }
  return Array.from({ length: 300 }, (_, index) => {
    const values = { v: oddValue(0), l: [oddText(), oddText(), oddValue(1)] };
    return {
      schema: 'x',
      name: `n${index}`,
      ...values,
      [`k${oddText()}`]: oddText(),
    } as JsonObject;
  });
}

test.each([1, 2, 3, 4, 5, 6])('odd texts are written as by opm, seed %d', async (seed) => {
  const texts = oddValues(seed).map((value) => JSON.stringify(value));
  await writeFile(join(dir, 'a.json'), texts.join('\n'));
  const others = texts.map((text) => {
    const value = JSON.parse(text) as JsonObject;
    return { schema: 'x', package: '', name: '', value };
  });
  const config = { packages: [], channels: [], bundles: [], deprecations: [], others };
  const yaml = await runOpm(['render', dir, '-o', 'yaml']);
  expect(yaml.code, yaml.stderr).toBe(0);
  expect([...writeYaml(config)].join('')).toBe(yaml.stdout);
  const json = await runOpm(['render', dir]);
  expect([...writeJson(config)].join('')).toBe(json.stdout);
});
