import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { BlobPlace } from '../../../../catalog/blobs/index.ts';
import type { Finding, LintLevel } from '../../../../catalog/compare/index.ts';
import { addRegistryFlags, type RegistryFlags } from '../../../flags/registry-flags.ts';
import { type OutputFlags, outputOption, Report } from '../../output/output.ts';
import { type Colour, coloured } from '../../terminal/paint.ts';
import { counted } from '../../terminal/text.ts';
import { withCatalog, withPlace } from '../opened-catalog.ts';

interface LintFlags extends RegistryFlags, OutputFlags {
  readonly rule: readonly string[];
  readonly disable: readonly string[];
}

/** `rukpakctl catalog lint`: doubtful content in a catalog that opm accepts. */
export async function lintCommand(): Promise<Command> {
  const { lintRules } = await import('../../../../catalog/compare/index.ts');
  const names = lintRules.map(({ name }) => name);
  const rows = lintRules.map(
    ({ name, level, summary }) => `  ${name.padEnd(28)}${level.padEnd(9)}${summary}`,
  );
  const command = new Command('lint')
    .addArgument(new Argument('<catalog>', 'Directory, image, oci:DIRECTORY or oci-archive:FILE'))
    .addOption(ruleOption('--rule <name>', 'Rule to check; repeatable', names).default([], 'all'))
    .addOption(
      ruleOption('--disable <name>', 'Rule to leave out; repeatable', names).default([], 'none'),
    )
    .addHelpText('after', `\nRules:\n${rows.join('\n')}`);
  return addRegistryFlags(command).addOption(outputOption()).action(withPlace(lint));
}

function ruleOption(flags: string, summary: string, names: readonly string[]): Option {
  return new Option(flags, summary).argParser((name: string, earlier: readonly string[]) => {
    if (names.includes(name)) return [...earlier, name];
    throw new InvalidArgumentError(
      `There is no rule of this name. The rules: ${names.join(', ')}.`,
    );
  });
}

async function lint(place: string, flags: LintFlags): Promise<void> {
  const { lintCatalog, lintRules } = await import('../../../../catalog/compare/index.ts');
  const { loadDirectory } = await import('../../../../catalog/load/index.ts');
  const { rule, disable } = flags;
  const wanted = rule.length === 0 ? lintRules.map(({ name }) => name) : rule;
  const rules = new Set(wanted).difference(new Set(disable));
  const findings = await withCatalog(place, flags, async (dir, signal) => {
    const textOf = async (at: BlobPlace) => await textOfBlob(dir, at);
    return await lintCatalog(loadDirectory(dir, { signal }), { rules, textOf });
  });
  const report = new Report(flags);
  await report.lines(findings.map(lineOf), paintLevel);
  const count = (level: LintLevel) => findings.filter((each) => each.level === level).length;
  const counts = { errors: count('error'), warnings: count('warning'), infos: count('info') };
  const { errors, warnings, infos } = counts;
  const texts = [counted(errors, 'error'), counted(warnings, 'warning'), counted(infos, 'info')];
  await report.line(texts.join(', '));
  await report.result({ ...counts, findings });
  if (counts.errors > 0) process.exitCode = 1;
}

async function textOfBlob(dir: string, { file, start, end }: BlobPlace): Promise<Uint8Array> {
  await using handle = await open(join(dir, file));
  const { buffer } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
  return buffer;
}

function lineOf({ file, line, level, message, rule, ...of }: Finding): string {
  const subject = [
    of.package === '' ? undefined : `package ${of.package}`,
    of.channel === undefined ? undefined : `channel ${of.channel}`,
    of.bundle === undefined ? undefined : `bundle ${of.bundle}`,
  ];
  const named = subject.filter((each) => each !== undefined).join(', ');
  return `${file}:${line}: ${level}: ${named}: ${message} (${rule})`;
}

const colours: Readonly<Record<string, Colour>> = { error: 'red', warning: 'yellow' };

function paintLevel(line: string): string {
  const found = /^(?<place>.*?:\d+: )(?<level>error|warning)(?=: )/.exec(line)?.groups;
  const { place = '', level = '' } = found ?? {};
  const colour = colours[level];
  if (colour === undefined) return line;
  return `${place}${coloured(colour, level)}${line.slice(place.length + level.length)}`;
}
