// @module-tag long
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runBothOpms } from '../helpers/both-opms.ts';

const program = join(import.meta.dirname, '../../cmd/opm.ts');
const minutes = 60_000;
let dir = '';

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'large-catalog-'));
});

afterEach(() => rm(dir, { recursive: true }));

/** Writes a file of the catalog from a part that is repeated. */
function write(name: string, parts: readonly (readonly [part: string, times: number])[]): void {
  const file = openSync(join(dir, name), 'w');
  for (const [part, times] of parts) {
    const atOnce = Math.max(1, Math.floor(1_000_000 / part.length));
    const block = part.repeat(atOnce);
    for (let left = times; left > 0; left -= atOnce) {
      writeSync(file, left >= atOnce ? block : part.repeat(left));
    }
  }
  closeSync(file);
}

interface Outcome {
  readonly code: number | null;
  readonly stderr: string;
  /** Peak of the process. */
  readonly mebibytes: number;
}

/** Not `maxRSS` of `getrusage`, which begins with what this process has. */
const atExit = `
  import { readFileSync } from 'node:fs';
  process.on('exit', () => {
    const [, peak] = /^VmHWM:\\s+(\\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'));
    console.error('peak', peak);
  });`;

/** In a process of its own, whose memory counts. */
async function opm(...args: readonly string[]): Promise<Outcome> {
  const hook = `data:text/javascript,${encodeURIComponent(atExit)}`;
  const child = spawn(process.execPath, ['--import', hook, program, ...args, dir], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [written] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  const [, stderr = '', peak = '0'] = /^([^]*)peak (\d+)\n$/.exec(written) ?? [];
  return { code: child.exitCode, stderr, mebibytes: Number(peak) / 1024 };
}

describe('a blob of 100 MB', { timeout: 5 * minutes }, () => {
  test.each([
    [
      'YAML',
      [
        ['---\nschema: a\n---\nschema: b\nitems:\n', 1],
        ['- name: x\n', 10_000_000],
      ],
      4,
    ],
    [
      'a text in YAML',
      [
        ['schema: b\ntext: |\n', 1],
        [`  ${'y'.repeat(97)}\n`, 1_000_000],
      ],
      1,
    ],
    [
      'JSON',
      [
        ['{"schema":"a"}\n{"schema":"b","items":[', 1],
        ['{"name":"x"},', 8_000_000],
        ['0]}', 1],
      ],
      2,
    ],
    [
      'an icon',
      [
        ['schema: olm.package\nname: a\nicon:\n  base64data: ', 1],
        ['iVBO', 17_500_000],
        ['\n', 1],
      ],
      1,
    ],
  ] as const)('as %s is refused with its place', async (_case, parts, line) => {
    write('catalog.yaml', parts);
    const { code, stderr, mebibytes } = await opm('render');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `render reference ".*": catalog.yaml:${line}: the blob has \\d+ bytes, more than the 67108864`,
      ),
    );
    expect(mebibytes).toBeLessThan(250);
  });
});

describe('a million blobs', { timeout: 10 * minutes }, () => {
  test.each([
    '---\nschema: x\nname: name\n',
    '{"schema":"x","name":"name"}\n',
    '{\n"schema":"x" } ',
  ])('like %j are validated in little memory', async (blob) => {
    write('catalog.yaml', [[blob, 1_000_000]]);
    expect(await opm('validate')).toMatchObject({ code: 0, stderr: '' });
    const { mebibytes } = await opm('validate');
    expect(mebibytes).toBeLessThan(150);
  });
});

test('a million aliases are refused', { timeout: minutes }, async () => {
  const levels = Array.from({ length: 12 }, (_, level) => {
    const item = level === 0 ? 'x' : `*a${level - 1}`;
    return `a${level}: &a${level}\n${`- ${item}\n`.repeat(9)}`;
  });
  write('catalog.yaml', [[`schema: x\n${levels.join('')}`, 1]]);
  const { code, stderr, mebibytes } = await opm('validate');
  expect({ code, stderr }).toMatchObject({ code: 1 });
  expect(stderr).toContain('yaml: document contains excessive aliasing');
  expect(mebibytes).toBeLessThan(150);
});

test('a cycle of a hundred thousand entries is told', { timeout: 5 * minutes }, async () => {
  const count = 100_000;
  const entries = Array.from({ length: count }, (_, index) => {
    return `- name: v${index}\n  replaces: v${index === 0 ? count - 1 : index - 1}\n`;
  });
  const channel = `schema: olm.channel\npackage: app\nname: stable\nentries:\n${entries.join('')}`;
  write('channel.yaml', [
    [`schema: olm.package\nname: app\ndefaultChannel: stable\n---\n${channel}`, 1],
  ]);
  const bundles = Array.from({ length: count }, (_, index) => {
    const properties = `[{"type":"olm.package","value":{"packageName":"app","version":"1.0.${index}"}}]`;
    return `{"schema":"olm.bundle","package":"app","name":"v${index}","image":"a/b:c","properties":${properties}}\n`;
  });
  write('bundles.json', [[bundles.join(''), 1]]);
  const { code, stderr, mebibytes } = await opm('validate');
  expect(code).toBe(1);
  expect(stderr).toMatch(/invalid channel .*no channel head found in graph/);
  expect(mebibytes).toBeLessThan(400);
});

test('names of what every object has are names', { timeout: minutes }, async () => {
  write('catalog.yaml', [
    [
      `schema: olm.package
name: __proto__
defaultChannel: constructor
__proto__: {polluted: true}
---
schema: olm.channel
package: __proto__
name: constructor
entries:
- name: toString
---
schema: olm.bundle
package: __proto__
name: toString
image: a/b:c
properties:
- type: olm.package
  value: {packageName: __proto__, version: 1.0.0, __proto__: 1}
- type: __proto__
  value: {b: 1, __proto__: {a: 1}}
---
schema: __proto__
package: hasOwnProperty
name: valueOf
__proto__: {}
`,
      1,
    ],
  ]);
  for (const args of [['render'], ['render', '-oyaml'], ['validate']]) {
    const { ours, theirs } = await runBothOpms([...args, dir]);
    expect(ours).toEqual(theirs);
  }
});
