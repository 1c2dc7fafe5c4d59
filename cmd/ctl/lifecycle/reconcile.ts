import { Argument, Command } from 'commander';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource, bundleResource } from '../../../api/v1alpha1/resources.ts';
import type { Resource } from '../../../core/platform/kube/index.ts';
import { durationOption } from '../../flags/flag-values.ts';
import type { Cluster } from '../cluster.ts';
import { addClusterFlags, type ClusterFlags } from '../flags.ts';
import { type OutputFlags, outputOption, progressOn, Report } from '../output/output.ts';

interface ReconcileFlags extends ClusterFlags, OutputFlags {
  readonly wait?: true;
  /** Milliseconds. */
  readonly timeout: number;
}

/**
 * `rukpakctl reconcile`: makes core reconcile a deployment now, without waiting for the next retry.
 */
export function reconcileCommand(): Command {
  const command = new Command('reconcile')
    .addArgument(new Argument('<bundleDeploymentName>', 'Name of the BundleDeployment'))
    .option(
      '--wait',
      'Wait until core has done so, and it is installed, and healthy if core reports health',
    )
    .addOption(durationOption('--timeout', 'Maximum time for --wait', '5m'));
  return addClusterFlags(command).addOption(outputOption()).action(reconcile);
}

async function reconcile(name: string, flags: ReconcileFlags): Promise<void> {
  const [{ withCluster }, { awaitGood }] = await Promise.all([
    import('../cluster.ts'),
    import('../deployments/awaiting.ts'),
  ]);
  const report = new Report(flags);
  await withCluster(flags, async ({ client, signal }) => {
    const requestedAt = new Date().toISOString();
    const deployment = await request(client, { name, requestedAt, signal });
    await report.line(`bundledeployment.core.rukpak.io "${name}" reconciliation requested`);
    if (deployment.spec.paused === true) {
      await report.line(`it is paused: core changes nothing before "rukpakctl resume ${name}"`);
    }
    if (flags.wait === true) {
      await progressOn(process.stderr)(`waiting for "${name}"`, () =>
        awaitGood(client, {
          name,
          request: {
            at: requestedAt,
            handledBefore: deployment.status?.lastHandledReconcileAt,
          },
          timeout: flags.timeout,
          signal,
        }),
      );
      await report.line(`bundledeployment.core.rukpak.io "${name}" is installed`);
    }
    await report.result({ bundleDeployment: name, requestedAt });
  });
}

interface Request {
  readonly name: string;
  /** RFC 3339. */
  readonly requestedAt: string;
  readonly signal: AbortSignal;
}

/** Requests it for the deployment and for the Bundle of its template, if core has created that. */
async function request(
  client: Cluster['client'],
  { name, requestedAt, signal }: Request,
): Promise<BundleDeployment> {
  const [{ isNotFound }, { templateBundle }] = await Promise.all([
    import('../../../core/platform/kube/index.ts'),
    import('../status/deployment-state.ts'),
  ]);
  const patch = { metadata: { annotations: { [annotation.reconcileRequestedAt]: requestedAt } } };
  const annotate = (resource: Resource, key: string) =>
    client.patch({ resource, key: { name: key } }, patch, { type: 'merge', signal });
  const deployment = (await annotate(bundleDeploymentResource, name)) as BundleDeployment;
  try {
    await annotate(bundleResource, templateBundle(deployment));
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return deployment;
}
