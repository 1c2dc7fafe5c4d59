import { createInterface } from 'node:readline/promises';
import { Argument, Command } from 'commander';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import { TerminalError } from '../../core/errors.ts';
import { durationOption } from '../flags/flag-values.ts';
import type { Cluster } from './cluster.ts';
import type { ForeseenDeletion, ForeseenObject } from './deployments/foreseen-deletion.ts';
import { addClusterFlags, type ClusterFlags } from './flags.ts';
import { type OutputFlags, outputOption, progressOn, Report } from './output.ts';
import { visibleLine } from './terminal/text.ts';

interface UninstallFlags extends ClusterFlags, OutputFlags {
  readonly systemNamespace: string;
  readonly yes?: true;
  readonly dryRun?: true;
  /** Milliseconds. */
  readonly timeout: number;
}

/** `rukpakctl uninstall`: deletes a BundleDeployment, after listing what is deleted with it. */
export function uninstallCommand(): Command {
  const command = new Command('uninstall')
    .addArgument(new Argument('<bundleDeploymentName>', 'Name of the BundleDeployment'))
    .option(
      '-y, --yes',
      'Do not ask for confirmation; required without a terminal, and with -o json',
    )
    .option('--dry-run', 'Print what would be deleted, and change nothing')
    .addOption(durationOption('--timeout', 'Maximum time for the deletion', '5m'))
    .option('--system-namespace <name>', 'Namespace that core runs in', 'rukpak-system');
  return addClusterFlags(command).addOption(outputOption()).action(uninstall);
}

async function uninstall(name: string, flags: UninstallFlags): Promise<void> {
  const { withCluster } = await import('./cluster.ts');
  const warnings = new Set<string>();
  const onWarning = (warning: string): void => {
    if (warnings.has(warning)) return;
    warnings.add(warning);
    process.stderr.write(`Warning: ${visibleLine(warning)}\n`);
  };
  await withCluster(flags, (cluster) => removed(cluster, { name, flags, warnings }), onWarning);
}

interface Removal {
  readonly name: string;
  readonly flags: UninstallFlags;
  readonly warnings: ReadonlySet<string>;
}

async function removed(cluster: Cluster, { name, flags, warnings }: Removal): Promise<void> {
  const [{ foreseeDeletion }, { awaitGone }] = await Promise.all([
    import('./deployments/foreseen-deletion.ts'),
    import('./deployments/awaiting.ts'),
  ]);
  const report = new Report(flags);
  const { systemNamespace, timeout } = flags;
  const { signal } = cluster;
  const progress = progressOn(process.stderr);
  const foreseen = await progress(`looking at "${name}"`, () =>
    foreseeDeletion(cluster, { name, systemNamespace, signal }),
  );
  const { deployment, deletes, keeps, hidden } = foreseen;
  await report.lines(foreseenLines(name, foreseen, flags.output === 'wide'));
  const result = { bundleDeployment: name, deletes, keeps, hidden, warnings: [...warnings] };
  if (flags.dryRun === true) return await report.result({ ...result, deleted: false });
  await confirm(name, flags, signal);
  const { uid = '' } = deployment.metadata;
  await cluster.client.delete(bundleDeploymentResource, { name }, { uid, signal });
  await progress(`waiting until "${name}" is gone`, () =>
    awaitGone(cluster.client, { deployment, timeout, signal }),
  );
  await report.line(`bundledeployment.core.rukpak.io "${name}" deleted`);
  await report.result({ ...result, deleted: true });
}

/** Maximum number of listed objects; the rest is a count. */
const listed = 50;

function foreseenLines(
  name: string,
  { deletes, keeps, hidden }: ForeseenDeletion,
  all: boolean,
): readonly string[] {
  const nothing = deletes.length === 0 ? ', which has installed nothing that goes with it' : '';
  return [
    `BundleDeployment "${name}" is deleted${nothing || ', and with it:'}`,
    ...objectLines(deletes, all),
    ...(keeps.length === 0 ? [] : ['These stay:', ...objectLines(keeps, all)]),
    ...hidden.map((kind) => `  ${kind}: you may not list this kind`),
  ];
}

function objectLines(objects: readonly ForeseenObject[], all: boolean): readonly string[] {
  const shown = all ? objects : objects.slice(0, listed);
  const more = objects.length - shown.length;
  return [
    ...shown.map(({ kind, namespace, name, note }) => {
      const path = namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
      return visibleLine(note === undefined ? `  ${path}` : `  ${path} (${note})`);
    }),
    ...(more === 0 ? [] : [`  … and ${more} more; --output wide lists all`]),
  ];
}

/**
 * Asks for confirmation after the list.
 * @throws TerminalError without a yes.
 */
async function confirm(name: string, flags: UninstallFlags, signal: AbortSignal): Promise<void> {
  if (flags.yes === true) return;
  const isShown = flags.output === 'text' || flags.output === 'wide';
  if (!process.stdin.isTTY || !isShown) {
    throw new TerminalError(
      'nothing is deleted: there is no terminal to ask for confirmation, so pass --yes',
    );
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(`Delete "${name}"? [y/N] `, { signal });
    if (/^y(?:es)?$/i.test(answer.trim())) return;
  } finally {
    lines.close();
  }
  throw new TerminalError('nothing is deleted');
}
