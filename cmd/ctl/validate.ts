import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { Validation } from '../../catalog/bundle-checks/index.ts';
import { defaultLimits } from '../../core/content/index.ts';
import { TerminalError } from '../../core/errors.ts';
import { classNameOf, registryClass } from '../../provisioners/class-of-content.ts';
import { addRegistryFlags, type RegistryFlags } from '../flags/registry-flags.ts';
import { withCoreFlags } from './content/local-limits.ts';
import {
  addThirdPartyFlag,
  chosenClass,
  type ThirdPartyFlags,
  withThirdParties,
} from './content/third-party-flag.ts';
import { addConfigFlag, type ConfigFlags, deploymentConfig } from './flags.ts';
import { type OutputFlags, outputOption, progressOn, Report } from './output/output.ts';
import { counted } from './terminal/text.ts';

interface ValidateFlags extends RegistryFlags, ConfigFlags, OutputFlags, ThirdPartyFlags {
  readonly class?: string;
  readonly optional?: readonly string[];
  readonly kubeVersion?: string;
}

/** The values of --optional, without loading the checks; a test compares the two. */
export const optionalValues: readonly string[] = [
  'operatorhubv2',
  'capabilities',
  'categories',
  'alpha-deprecated-apis',
  'good-practices',
  'objects',
];

/** `rukpakctl validate`: every problem of a bundle, without a cluster. */
export function validateCommand(): Command {
  const command = new Command('validate')
    .addArgument(new Argument('<bundle>', 'Directory or image of the bundle'))
    .option('--class <name>', 'Provisioner class of the bundle (default: as for render)')
    .addOption(
      new Option('--optional <names>', 'Registry bundles: additional checks, separated by commas')
        .choices([...optionalValues, 'all'])
        .argParser(checkNames),
    )
    .option(
      '--kube-version <version>',
      'Version of Kubernetes for --optional alpha-deprecated-apis (default: the bundle’s minKubeVersion)',
    );
  return addRegistryFlags(addConfigFlag(addThirdPartyFlag(command)))
    .addOption(outputOption())
    .action(validate);
}

function checkNames(text: string): readonly string[] {
  if (text === 'all') return optionalValues;
  const names = text.split(',');
  const unknown = names.find((name) => !optionalValues.includes(name));
  if (unknown === undefined) return names;
  throw new InvalidArgumentError(`"${unknown}" is not one of ${optionalValues.join(', ')}, all.`);
}

async function validate(bundle: string, flags: ValidateFlags): Promise<void> {
  const [{ loadContent }, { validateContent }, { validateOffline }, { isError, problemLine }] =
    await Promise.all([
      import('./content/load-content.ts'),
      import('./content/validate-content.ts'),
      import('./content/class-objects.ts'),
      import('../../catalog/bundle-checks/index.ts'),
    ]);
  const config = await deploymentConfig(flags);
  const files = await progressOn(process.stderr)(`reading ${bundle}`, () =>
    loadContent(bundle, { limits: defaultLimits, registries: flags }),
  );
  const { class: className, optional, kubeVersion } = flags;
  const found = await withThirdParties(flags, async (classes) => {
    const own = chosenClass(classes, className);
    refuseIdle(own?.className ?? classNameOf(files, className), flags);
    const configured = config === undefined ? {} : { config };
    if (own !== undefined) return await validateOffline(files, own, configured);
    return await validateContent(files, {
      ...(className === undefined ? {} : { className }),
      ...configured,
      ...(optional === undefined ? {} : { optional }),
      ...(kubeVersion === undefined ? {} : { kubeVersion }),
    });
  });
  const problems = found.problems.map((problem) => ({
    ...problem,
    message: withCoreFlags(problem.message),
  }));
  const errors = problems.filter(isError).length;
  const warnings = problems.length - errors;
  const report = new Report(flags);
  await report.lines([...problems.map(problemLine), verdict(found, errors, warnings)]);
  await report.result({ bundle, valid: errors === 0, errors, warnings, ...found, problems });
  if (errors > 0) process.exitCode = 1;
}

/** @throws TerminalError for a flag that means nothing for content of the class. */
function refuseIdle(className: string, { optional, kubeVersion }: ValidateFlags): void {
  const flag = optional === undefined ? '--kube-version' : '--optional';
  if (optional === undefined && kubeVersion === undefined) return;
  if (className !== registryClass) {
    throw new TerminalError(
      `${flag}: only registry bundles have additional checks, and this is content of class "${className}": leave it out`,
    );
  }
  const check = 'alpha-deprecated-apis';
  if (kubeVersion === undefined || optional?.includes(check) === true) return;
  throw new TerminalError(`--kube-version: only check ${check} uses it: add that to --optional`);
}

function verdict(found: Validation, errors: number, warnings: number): string {
  const counts = [counted(errors, 'error'), counted(warnings, 'warning')];
  const objects = counted(found.objects, 'object');
  if (errors === 0) return `valid as ${found.class}: ${objects}, ${counts[1]}`;
  const verdict = `not valid as ${found.class}: ${counts.join(', ')}`;
  if (!found.installable) return verdict;
  return `${verdict}; all the same it can be installed (${objects}): only catalogs and other tools refuse it`;
}
