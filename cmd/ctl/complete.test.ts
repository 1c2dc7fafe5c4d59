import { Argument, Command, Option } from 'commander';
import { describe, expect, it, vi } from 'vitest';
import { complete } from './complete.ts';
import { operatorCommands } from './operator/commands.ts';

const lookUp = vi.fn(async () => ['prometheus', 'prom-adapter', 'grafana']);

async function aProgram(): Promise<Command> {
  const status = new Command('status')
    .description('what stands')
    .addArgument(new Argument('<bundleDeploymentName>'))
    .option('--context <name>', 'which cluster')
    .option('--wide', 'more of it')
    .addOption(new Option('--output <format>', 'how').choices(['text', 'json']));
  const run = new Command('run').argument('<bundleDeploymentName>').argument('<bundleDir>');
  const operator = new Command('operator');
  for (const { load } of operatorCommands) operator.addCommand(await load([]));
  return new Command('ctl')
    .addCommand(status)
    .addCommand(run)
    .addCommand(operator)
    .addCommand(new Command('alpha').addCommand(new Command('bootstrap')), { hidden: true });
}

async function offered(...words: readonly string[]): Promise<[string[], number]> {
  const { candidates, directive } = await complete(await aProgram(), words, lookUp);
  return [candidates.map(({ text }) => text), directive];
}

describe('complete', () => {
  it.each([
    ['commands', [''], [['status', 'run', 'operator', 'help'], 4]],
    ['commands that begin so', ['sta'], [['status'], 4]],
    ['commands of a hidden command', ['alpha', 'b'], [['bootstrap'], 4]],
    ['flags', ['status', '--'], [['--context', '--wide', '--output', '--help'], 4]],
    ['values of a flag', ['status', '--output', ''], [['text', 'json'], 4]],
    ['files for other flags', ['status', '--context', ''], [[], 0]],
    ['names of objects', ['status', 'prom'], [['prometheus', 'prom-adapter'], 4]],
    ['names after flags', ['status', '--wide', '--output=json', 'g'], [['grafana'], 4]],
    ['directories', ['run', 'x', ''], [[], 16]],
    ['nothing after the last argument', ['status', 'x', ''], [[], 4]],
  ])('offers %s', async (_what, words, expected) => {
    expect(await offered(...words)).toEqual(expected);
  });

  it('asks the cluster that the flags name', async () => {
    await offered('status', '--context', 'other', '');
    expect(lookUp).toHaveBeenLastCalledWith({
      what: expect.objectContaining({ kind: 'BundleDeployment' }),
      flags: { context: 'other' },
      positionals: [],
    });
  });

  it.each([
    [['operator', 'upgrade', ''], 'operator', []],
    [['operator', 'install', ''], 'package', []],
    [['operator', 'install', 'a', '--channel', ''], 'channel', ['a']],
    [['operator', 'install', 'a', '--version', ''], 'version', ['a']],
    [['operator', 'upgrade', 'a', '--to', ''], 'version', ['a']],
  ])('asks the catalogs for %j', async (words, what, positionals) => {
    expect(await offered(...words)).toEqual([['prometheus', 'prom-adapter', 'grafana'], 4]);
    expect(lookUp).toHaveBeenLastCalledWith({ what, flags: {}, positionals });
  });

  it('offers nothing where the cluster does not answer', async () => {
    lookUp.mockRejectedValueOnce(new Error('no cluster'));
    expect(await offered('status', '')).toEqual([[], 4]);
  });
});
