// @module-tag long
import { beforeAll, describe, expect, test } from 'vitest';
import type { CobraRow } from '../../cmd/opm/cobra/command.ts';
import { opmProgram } from '../../cmd/opm/program.ts';
import { runBothOpms } from '../helpers/both-opms.ts';
import { opmBinary, runOpm } from '../helpers/opm.ts';
import { ourOpm } from '../helpers/our-opm.ts';

/** The paths of all commands whose texts are opm's; scripts for completion are our own. */
function paths({ commands = [] }: CobraRow, above: readonly string[] = []): readonly string[][] {
  const kept = commands.filter(
    ({ name, short }) => short !== '' && !['completion', 'alpha'].includes(name),
  );
  return kept.flatMap((row) => [[...above, row.name], ...paths(row, [...above, row.name])]);
}

const commands = paths(opmProgram({ showAlpha: true })).map((path) => ({
  path,
  called: path.join(' '),
}));

/** Of opm's help, without the commands: we leave some out. */
function withoutLeftOut(text: string): string {
  return text.replaceAll(/Available Commands:\n(?: {2}.*\n)*\n/g, '');
}

beforeAll(async () => {
  await opmBinary();
});

describe.each(['false', 'true'])('with HELP_ALPHA=%s', (HELP_ALPHA) => {
  const options = { env: { HELP_ALPHA }, normalise: withoutLeftOut };

  test('opm --help is the same', async () => {
    const { ours, theirs } = await runBothOpms(['--help'], options);
    expect(ours).toEqual(theirs);
  });

  test.each(commands)('opm $called --help is the same', async ({ path }) => {
    const { ours, theirs } = await runBothOpms([...path, '--help'], options);
    expect(ours).toEqual(theirs);
  });

  test.each(commands)('opm help $called is the same', async ({ path }) => {
    const { ours, theirs } = await runBothOpms(['help', ...path], options);
    expect(ours).toEqual(theirs);
  });
});

describe.each(commands)('opm $called', ({ path }) => {
  test.each([
    ['an unknown flag', ['--nope']],
    ['an unknown letter', ['-hQ=x', 'y']],
    ['a flag without its value', ['--output']],
    ['too many arguments', ['1', '2', '3', '4', '5', '6', '--nope=1']],
    ['an unknown flag before it', []],
  ])('refuses %s with the same text', async (_what, args) => {
    const line = args.length === 0 ? ['--nope', ...path] : [...path, ...args];
    const { ours, theirs } = await runBothOpms(line, { normalise: withoutLeftOut });
    expect(ours).toEqual(theirs);
  });
});

test.each([
  [[]],
  [['help', 'nonsense']],
  [['nonsense']],
  [['--use-http=maybe']],
  [['--help', 'version']],
  [['-h', 'version', 'alpha']],
  [['--use-http', 'version', '--help']],
  [['--skip-tls']],
  [['--', 'version']],
])('opm %j is the same', async (args) => {
  const { ours, theirs } = await runBothOpms(args, { normalise: withoutLeftOut });
  expect(ours).toEqual(theirs);
});

/** The paths of all commands that opm's help lists, at any depth. */
async function opmCommands(above: readonly string[] = []): Promise<readonly string[][]> {
  const env = { HELP_ALPHA: 'true' };
  const { stdout } = await runOpm([...above, '--help'], { env });
  const [, list = ''] = /Available Commands:\n((?: {2}.*\n)*)/.exec(stdout) ?? [];
  const names = list.match(/(?<=^ {2})\S+/gm) ?? [];
  const below = names
    .filter((name) => name !== 'help')
    .map(async (name) => [[...above, name], ...(await opmCommands([...above, name]))]);
  return (await Promise.all(below)).flat();
}

/** What opm's help does not list. */
const hidden = [
  ['alpha', 'bundle', 'validate'],
  ['index', 'deprecatetruncate'],
  ['registry', 'deprecatetruncate'],
  ['registry', 'mirror'],
];

test('each of opm’s commands is here, or says what to use instead', async () => {
  const missing: string[] = [];
  for (const path of [...(await opmCommands()), ...hidden]) {
    const { code, stdout, stderr } = await ourOpm([...path, '--help']);
    const called = `opm ${path.join(' ')}`;
    if (code === 0 && new RegExp(`^ {2}${called}\\b`, 'm').test(stdout)) continue;
    expect(stderr).toContain(`Error: this opm has no "${called}": `);
    expect(code).toBe(1);
    missing.push(path.join(' '));
  }
  expect(missing.toSorted()).toEqual([
    'completion powershell',
    'index',
    'index add',
    'index deprecatetruncate',
    'index export',
    'index prune',
    'index prune-stranded',
    'index rm',
    'registry',
    'registry add',
    'registry deprecatetruncate',
    'registry mirror',
    'registry prune',
    'registry prune-stranded',
    'registry rm',
    'registry serve',
  ]);
});
