import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rukpakctl } from '../../../../test/helpers/rukpakctl.ts';

const catalog = join(import.meta.dirname, '../../../../deploy/samples/howto/catalog');
const graph = ['catalog', 'graph', 'greeter', catalog];

test('lines keep to the width of the terminal, and colours are off where NO_COLOR is set', async () => {
  const { code, stdout } = await rukpakctl(graph, {
    columns: 80,
    env: { NO_COLOR: '1', TERM: 'x' },
  });
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines).toContainEqual(
    expect.stringMatching(/^\. {3}greeter\.v1\.0\.0 {2}deprecated: .*…$/),
  );
});

test('at a terminal with colours, what is deprecated is struck and heads are bold', async () => {
  const { stdout } = await rukpakctl(graph, { columns: 200, env: { NO_COLOR: '', TERM: 'xterm' } });
  expect(stdout).toContain('.   \u001b[9mgreeter.v1.0.0\u001b[29m  deprecated: ');
  expect(stdout).toContain('| * \u001b[1mgreeter.v1.2.0\u001b[22m  replaces ');
});

test('a script gets the graph as data', async () => {
  const { stdout } = await rukpakctl([...graph, '-o', 'json', '--channel', 'stable']);
  const { channels, bundles } = JSON.parse(stdout) as Record<string, Record<string, unknown>[]>;
  expect(channels).toEqual([
    {
      name: 'stable',
      heads: ['greeter.v1.1.0'],
      entries: [
        { name: 'greeter.v1.0.0', replaces: '', skips: [], skipRange: '', reach: 'skipped' },
        {
          name: 'greeter.v1.0.1',
          replaces: '',
          skips: ['greeter.v1.0.0'],
          skipRange: '',
          reach: 'path',
        },
        {
          name: 'greeter.v1.1.0',
          replaces: 'greeter.v1.0.1',
          skips: [],
          skipRange: '',
          reach: 'head',
        },
      ],
    },
  ]);
  expect(bundles?.map(({ version }) => version)).toEqual(['1.1.0', '1.0.1', '1.0.0']);
});

test.each([
  ['svg', '<?xml version="1.0" encoding="UTF-8"?>\n<svg '],
  ['html', '<!doctype html>\n'],
  ['mermaid', 'graph LR\n'],
])('%s is printed as it is', async (output, start) => {
  const { code, stdout } = await rukpakctl([...graph, '-o', output], { columns: 80 });
  expect(code).toBe(0);
  expect(stdout.startsWith(start)).toBe(true);
});

test('of more channels than a terminal has room for, the first are drawn', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'graph-'));
  const channels = Array.from({ length: 30 }, (_, index) => `c${10 + index}`);
  const blobs = [
    { schema: 'olm.package', name: 'p', defaultChannel: 'c39' },
    ...channels.map((name) => {
      const entries = [{ name: `p.${name}` }, { name: 'p.v0' }];
      return { schema: 'olm.channel', package: 'p', name, entries };
    }),
  ];
  await writeFile(join(dir, 'c.json'), blobs.map((blob) => JSON.stringify(blob)).join('\n'));
  const { stdout } = await rukpakctl(['catalog', 'graph', 'p', dir], { columns: 80 });
  await rm(dir, { recursive: true });
  const lines = stdout.trimEnd().split('\n');
  expect(lines[0]).toBe('p: 30 channels, 31 bundles');
  expect(lines).toHaveLength(1 + 20 + 21 + 2);
  expect(lines.at(-1)).toMatch(/^10 more channels are not drawn: name channels with --channel/);
});

test('an unknown package is refused, naming those there are', async () => {
  const { code, stderr } = await rukpakctl(['catalog', 'graph', 'zz', catalog]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/ package "zz" not found: the catalog has greeter\n$/);
});
