// @module-tag process

import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type JsonValue, parseJson, stringifyJson } from '../../../api/json.ts';
import { parseYaml } from '../../../core/manifests/index.ts';
import { goBuild } from '../../../deploy/go-build/index.ts';
import { seededRandom } from '../../helpers/seeded-random.ts';

let folder: string;
let program: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'go-yaml-'));
  program = join(folder, 'yaml');
  await goBuild({
    title: 'sigs.k8s.io/yaml',
    package: '.',
    cwd: join(import.meta.dirname, 'go'),
    target: program,
    env: process.env,
    signal: AbortSignal.timeout(150_000),
    onProgress: (line) => process.stderr.write(`yaml: ${line}\n`),
  });
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** What a document is as JSON text with sorted keys, or the error that it ends with. */
interface Reading {
  readonly json?: string;
  readonly error?: string;
}

function readByGo(documents: readonly string[]): readonly Reading[] {
  const input = documents.map((text) => `${Buffer.from(text).toString('base64')}\n`).join('');
  const { stdout } = spawnSync(program, { input, encoding: 'utf8', maxBuffer: 2 ** 28 });
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { json, error } = parseJson(line) as { json?: JsonValue; error?: string };
      return json === undefined ? { error: error ?? '' } : { json: shown(json) };
    });
}

function readByUs(text: string): Reading {
  try {
    return { json: shown(parseYaml(Buffer.from(text))) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

function shown(value: JsonValue): string {
  return stringifyJson(comparable(value));
}

/** With sorted keys, and floats for what 64 bits do not hold, as Go has it: we keep the digits. */
function comparable(value: JsonValue): JsonValue {
  if (typeof value === 'bigint') {
    return value >= 2n ** 64n || value < -(2n ** 63n) ? Number(value) : value;
  }
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  const sorted = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, member]) => [key, comparable(member ?? null)]));
}

const documents: readonly string[] = [
  ...['.inf', '-.INF', '.NaN'].flatMap((word) => [
    `a: ${word}`,
    `a: [1, ${word}]`,
    `a: {b: ${word}}`,
    `a:\n- ${word}`,
    `${word}: 1`,
    `{${word}: 1}`,
  ]),
  ...['|', '>', '|2', '>2', '|2-', '|+2', '|1', '|9'].flatMap((header) =>
    [
      '',
      '  x',
      '  x\n   ',
      '  x\n  ',
      '   \n  x\n     \n',
      '      ',
      '   \n\n',
      '  x\n  # c\n',
    ].map((content) => `a: ${header}\n${content}\nb: 1`),
  ),
  'l:\n- |2\n   x \n    \n- 1',
  ...[
    '9223372036854775807',
    '9223372036854775808',
    '18446744073709551615',
    '18446744073709551616',
    '-9223372036854775808',
    '-9223372036854775809',
    '123456789012345678901234567890',
    '0x7fffffffffffffff',
    '0x8000000000000000',
    '01000000000000000000000',
    '1e400',
  ].flatMap((integer) => [
    `${integer}: a`,
    `{${integer}: a}`,
    `a: ${integer}`,
    `"${integer}": a`,
    `a: !!int ${integer}`,
  ]),
  ...['\ufeff', '\u00a0', '\u2003', '\x85', '\u3000'].flatMap((blank) => [
    `${blank}a: 1`,
    `a${blank}: 1`,
    `a: ${blank}`,
    `a:${blank}1`,
    `a: ${blank}x`,
    `a: x${blank}`,
    `a: x${blank}#c`,
    `a: "x${blank}y"`,
    `a: 'x${blank}  y'`,
    `a: |\n  x${blank}  y`,
    `- ${blank}x`,
    `# c${blank}\na: 1`,
    `a: 1\n${blank}b: 2`,
  ]),
  '\ufeff\ufeffa: 1',
  '\ufeff\ufeffa: 1\nb: 2',
  '# c\x85a: 1',
  'a: 1\x85b: 2',
  ...['constructor', '__proto__', 'toString'].flatMap((name) => [
    `${name}: 1`,
    `a: {${name}: 1}`,
    `a: !<${name}> 1`,
    `a: &${name} 1\nb: *${name}`,
    `a: &a {${name}: 1}\nb: {<<: *a}`,
  ]),
].map((text) => `${text}\n`);

describe('YAML is what sigs.k8s.io/yaml takes it for', () => {
  test('document by document', () => {
    const wanted = readByGo(documents);
    const wrong = documents.flatMap((text, index) => {
      const go = wanted[index];
      const we = readByUs(text);
      // Of what is no YAML each has words of its own.
      const same = go?.json === we.json || (go?.json === undefined && we.json === undefined);
      return same ? [] : [{ text, go, we }];
    });
    expect(wrong).toEqual([]);
  });

  test.each([
    [
      1,
      'a;b: ;\n;\n  ;- ;{;};[;];, ;: ;.inf;-.Inf;9223372036854775808;18446744073709551616;";\'; ;~;<<: ;&a ;*a',
    ],
    [2, '|2;|;|2-;|2+;|+;>2;>;|1;\n;\n  ;\n   ;\n    ;\n ; ;x;\n  z;\nb: 1;\n- ;\n# c; # c;\n\n'],
    [3, '\ufeff;\u00a0;\x85;\u2003;a;b: ;x;\n;\n  ;- ;";\';: ;:; ;#;{;};[;];,;1;?;é;😀'],
  ])('whatever stands in it: what both read is the same (seed %i)', (seed, alphabet) => {
    const random = seededRandom(seed);
    const pieces = alphabet.split(';');
    const texts = Array.from({ length: 5_000 }, () => {
      const parts = Array.from(
        { length: 1 + Math.floor(random() * 8) },
        () => pieces[Math.floor(random() * pieces.length)],
      );
      return `a: ${parts.join('')}\n`;
    });
    const wanted = readByGo(texts);
    const wrong = texts.flatMap((text, index) => {
      const go = wanted[index];
      const we = readByUs(text);
      const bothRead = go?.json !== undefined && we.json !== undefined;
      return bothRead && go.json !== we.json ? [{ text, go, we }] : [];
    });
    expect(wrong).toEqual([]);
  });
});
