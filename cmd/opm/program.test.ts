import { describe, expect, test } from 'vitest';
import { ourOpm } from '../../test/helpers/our-opm.ts';
import type { CobraRow } from './cobra/command.ts';
import { opmProgram } from './program.ts';

function withPaths(row: CobraRow, above = ''): readonly (readonly [string, CobraRow])[] {
  const path = `${above}${row.name}`;
  const below = (row.commands ?? []).flatMap((each) => withPaths(each, `${path} `));
  return [[path, row], ...below];
}

test.each(withPaths(opmProgram({ showAlpha: true })))(
  '%s loads its command',
  async (_path, row) => {
    const { use } = await row.load();
    expect(use.split(' ')[0]).toBe(row.name);
  },
);

describe('opm', () => {
  test('alone prints nothing, as ever', async () => {
    expect(await ourOpm([])).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test.each([[['--help']], [['help']], [['help', 'nonsense']]])('%s prints help', async (args) => {
    const { code, stdout, stderr } = await ourOpm(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^CLI to interact with operator-registry/);
    expect(stdout).toContain('Usage:\n  opm [flags]\n  opm [command]\n\nAvailable Commands:\n');
    expect(stdout).not.toContain('Run an alpha subcommand');
  });

  test('with HELP_ALPHA lists what may still change', async () => {
    const { stdout } = await ourOpm(['--help'], { env: { HELP_ALPHA: 'true' } });
    expect(stdout).toContain('  alpha       Run an alpha subcommand\n');
  });

  test.each([
    [['foo'], 'unknown command "foo" for "opm"'],
    [['alpha', 'diff'], 'unknown command "diff" for "opm alpha"'],
    [['--foo'], 'unknown flag: --foo'],
    [['version', '-x'], "unknown shorthand flag: 'x' in -x"],
  ])('%s is refused with the usage', async (args, message) => {
    const { code, stdout, stderr } = await ourOpm(args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^Error: .*\nUsage:\n(.*\n)+\n$/);
    expect(stderr).toContain(`Error: ${message}\n`);
  });

  test.each([
    [['index', 'add', '--bundles', 'x'], '"opm index add"'],
    [['registry', 'serve'], '"opm registry serve"'],
    [['alpha', 'veneer'], '"opm alpha veneer"'],
  ])('%s says what to use instead', async (args, named) => {
    const { code, stdout, stderr } = await ourOpm(args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`Error: this opm has no ${named}: `);
  });

  test('version is that of the opm it stands for', async () => {
    const { stdout } = await ourOpm(['version']);
    expect(stdout).toMatch(/^Version: version\.Version\{OpmVersion:"v1\.73\.0\+rukpak-ts\./);
  });
});

describe('completion', () => {
  test.each([
    [
      ['completion', ''],
      ['bash', 'fish', 'zsh'],
    ],
    [['completion', 'z'], ['zsh']],
    [['help', 'ver'], ['version']],
    [
      ['version', '--'],
      ['--skip-tls-verify', '--use-http', '--help'],
    ],
    [['alpha', 'ven'], []],
  ])('of %j offers %j', async (words, expected) => {
    const { stdout } = await ourOpm(['__complete', ...words]);
    const lines = stdout.split('\n').slice(0, -1);
    expect(lines.slice(0, -1).map((line) => line.split('\t')[0])).toEqual(expected);
    expect(lines.at(-1)).toMatch(/^:[04]$/);
  });

  test('comes with scripts that ask opm', async () => {
    const { code, stdout } = await ourOpm(['completion', 'bash']);
    expect({ code }).toEqual({ code: 0 });
    expect(stdout).toContain('opm __complete');
  });
});
