import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { bundleCommands } from './bundle/commands.ts';
import { catalogCommands } from './catalog/commands.ts';
import { operatorCommands } from './operator/commands.ts';
import { commandTable } from './program.ts';

const rows = [...commandTable, ...bundleCommands, ...catalogCommands, ...operatorCommands];

test.each(rows)('"$usage" is what its command takes', async ({ usage, load }) => {
  const command = await load([]);
  expect(command.createHelp().subcommandTerm(command)).toBe(usage);
});

test.each(rows)(
  'the flags of "$usage" begin with a capital letter, and say a default once',
  async ({ load }) => {
    const command = await load([]);
    const help = command.createHelp();
    const flags = help.visibleOptions(command).filter(({ long }) => long !== '--help');
    const texts = flags.map((each) => help.optionDescription(each));
    const odd = texts.filter(
      (text) =>
        !/^[A-Z]/.test(text) ||
        /default: (?:\[\]|""|false)/.test(text) ||
        (text.match(/\bdefault(?:s to|:)/gi) ?? []).length > 1 ||
        /[^;] repeatable/.test(text),
    );
    expect(odd).toEqual([]);
  },
);

test('version loads no library but that of the commands, and nothing that speaks to a cluster', {
  tags: ['process'],
}, () => {
  const program = fileURLToPath(new URL('../rukpakctl.ts', import.meta.url));
  const listing = `
    import { registerHooks } from 'node:module';
    registerHooks({ load: (url, context, next) => (console.error(url), next(url, context)) });`;
  const hook = `data:text/javascript,${encodeURIComponent(listing)}`;
  const { stderr } = spawnSync(process.execPath, ['--import', hook, program, 'version'], {
    encoding: 'utf8',
  });
  const root = new URL('../../', import.meta.url).href;
  const loaded = stderr.split('\n').filter((url) => url.startsWith(root));
  const paths = loaded.map((url) => url.slice(root.length));
  expect(paths).toContain('cmd/ctl/version.ts');
  expect(paths.filter((path) => !/^(?:api|cmd|node_modules\/commander)\//.test(path))).toEqual([
    'core/errors.ts',
  ]);
});
