import { Argument, Command } from 'commander';
import { defaultLimits } from '../../core/content/limits.ts';
import { addRegistryFlags, type RegistryFlags } from '../registry-flags.ts';
import { type OutputFlags, outputOption, Report } from './output.ts';
import { progressOn } from './progress.ts';
import { problemLine } from './validate/problem.ts';
import type { Validation } from './validate/validate-bundle.ts';

interface ValidateFlags extends RegistryFlags, OutputFlags {
  readonly class?: string;
}

/** `rukpakctl validate`: all that is wrong with a bundle, without a cluster. */
export function validateCommand(): Command {
  const command = new Command('validate')
    .description('say everything that is wrong with a bundle, without a cluster')
    .addArgument(new Argument('<bundle>', 'directory or image that holds the bundle'))
    .option('--class <name>', 'provisioner class of the bundle (default: as render tells it)');
  return addRegistryFlags(command).addOption(outputOption()).action(validate);
}

async function validate(bundle: string, flags: ValidateFlags): Promise<void> {
  const [{ loadContent }, { validateContent }, { isError }] = await Promise.all([
    import('./load-content.ts'),
    import('./validate/validate-content.ts'),
    import('./validate/validate-bundle.ts'),
  ]);
  const files = await progressOn(process.stderr)(`reading ${bundle}`, () =>
    loadContent(bundle, { limits: defaultLimits, registries: flags }),
  );
  const found = await validateContent(files, flags.class);
  const errors = found.problems.filter(isError).length;
  const warnings = found.problems.length - errors;
  const report = new Report(flags);
  await report.lines([...found.problems.map(problemLine), verdict(found, errors, warnings)]);
  await report.result({ bundle, valid: errors === 0, errors, warnings, ...found });
  if (errors > 0) process.exitCode = 1;
}

function verdict(found: Validation, errors: number, warnings: number): string {
  const counts = [counted(errors, 'error'), counted(warnings, 'warning')];
  return errors > 0
    ? `not valid as ${found.class}: ${counts.join(', ')}`
    : `valid as ${found.class}: ${counted(found.objects, 'object')}, ${counts[1]}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
