import { Argument, Command } from 'commander';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { defaultLimits } from '../../../core/content/index.ts';
import { errorMessage } from '../../../core/errors.ts';
import { addRegistryFlags, type RegistryFlags } from '../../flags/registry-flags.ts';
import { addCertificatesFlag, type CertificatesFlag } from '../certificates.ts';
import { withCoreFlags } from '../content/local-limits.ts';
import {
  addThirdPartyFlag,
  type ThirdPartyFlags,
  withThirdParties,
} from '../content/third-party-flag.ts';
import {
  addClusterFlags,
  addConfigFlag,
  type ClusterFlags,
  type ConfigFlags,
  deploymentConfig,
} from '../flags.ts';
import { logLine } from '../output/loggers.ts';
import { type OutputFlags, outputOption, progressOn, Report } from '../output/output.ts';
import { paintDiff } from '../terminal/paint.ts';
import type { UpgradeDiff } from './upgrade-diff.ts';

interface DiffFlags
  extends ClusterFlags,
    RegistryFlags,
    ConfigFlags,
    CertificatesFlag,
    ThirdPartyFlags,
    OutputFlags {
  readonly class?: string;
  readonly systemNamespace: string;
}

/** Exit codes of `diff` and `kubectl diff`. */
const exitCodes = { same: 0, different: 1, failed: 2 } as const;

/** `rukpakctl diff`: shows what an upgrade to a bundle would change. Writes nothing. */
export function diffCommand(): Command {
  const command = new Command('diff')
    .addArgument(new Argument('<bundle>', 'Directory or image of the bundle'))
    .addArgument(
      new Argument('<bundleDeploymentName>', 'Name of the BundleDeployment to compare with'),
    )
    .option(
      '--class <name>',
      'Provisioner class of the bundle (default: the class in spec.template)',
    )
    .option('--system-namespace <name>', 'Namespace that core runs in', 'rukpak-system')
    .addHelpText(
      'after',
      '\nExit codes: 0 if nothing would change, 1 if something would change, 2 if the command failed.',
    )
    // Otherwise a typing mistake would exit with the code of a difference.
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exitCodes.failed));
  addCertificatesFlag(addConfigFlag(addThirdPartyFlag(command)));
  return addRegistryFlags(addClusterFlags(command)).addOption(outputOption()).action(diff);
}

async function diff(bundle: string, name: string, flags: DiffFlags): Promise<void> {
  try {
    const found = await upgradeOf(bundle, name, flags);
    await print(found, { ...flags, name });
    const complaints = [...found.warnings.map((text) => `warning: ${text}`), ...found.problems];
    for (const text of complaints) process.stderr.write(logLine(text));
    process.exitCode = exitCodeOf(found);
  } catch (error) {
    process.stderr.write(logLine(withCoreFlags(errorMessage(error))));
    process.exitCode = exitCodes.failed;
  }
}

async function upgradeOf(bundle: string, name: string, flags: DiffFlags): Promise<UpgradeDiff> {
  const [{ withCluster }, { loadContent }, { upgradeObjects }, { upgradeDiff }] = await Promise.all(
    [
      import('../cluster.ts'),
      import('../content/load-content.ts'),
      import('./upgrade-objects.ts'),
      import('./upgrade-diff.ts'),
    ],
  );
  const { systemNamespace } = flags;
  const config = await deploymentConfig(flags);
  const progress = progressOn(process.stderr);
  const files = await progress(`reading ${bundle}`, () =>
    loadContent(bundle, { limits: defaultLimits, registries: flags }),
  );
  return await withCluster(flags, async (cluster) => {
    const { signal } = cluster;
    const live = await cluster.client.get(bundleDeploymentResource, { name }, signal);
    const owner = live as BundleDeployment;
    const { class: className, certificates } = flags;
    const content = await withThirdParties(flags, (thirdParties) =>
      upgradeObjects(cluster, {
        owner: config === undefined ? owner : { ...owner, spec: { ...owner.spec, config } },
        files,
        thirdParties,
        certificates,
        systemNamespace,
        signal,
        ...(className === undefined ? {} : { className }),
      }),
    );
    return await progress(`comparing ${content.objects.length} objects`, () =>
      upgradeDiff(cluster, { owner, ...content, systemNamespace, signal }),
    );
  });
}

async function print(
  found: UpgradeDiff,
  flags: OutputFlags & { readonly name: string },
): Promise<void> {
  const report = new Report(flags);
  const { changes, unchanged } = found;
  const count = (wanted: string): number =>
    changes.filter(({ action }) => action === wanted).length;
  await report.lines(
    changes.map(({ diff }) => diff.trimEnd()),
    paintDiff,
  );
  const orphans = count('orphan');
  const orphaned = orphans === 0 ? '' : `${orphans} orphaned, `;
  await report.line(
    `${count('create')} created, ${count('change')} changed, ${count('prune')} pruned, ${orphaned}${unchanged} unchanged`,
  );
  await report.result({ bundleDeployment: flags.name, ...found });
}

function exitCodeOf({ changes, problems }: UpgradeDiff): number {
  if (problems.length > 0) return exitCodes.failed;
  return changes.length > 0 ? exitCodes.different : exitCodes.same;
}
