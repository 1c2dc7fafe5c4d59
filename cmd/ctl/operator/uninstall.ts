import { Argument, Command } from 'commander';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { ExtensionKindName, ExtensionRow } from '../../../operators/client/index.ts';
import {
  addDeletionFlags,
  confirmDeletion,
  type DeletionFlags,
  deletionLines,
} from '../deployments/deletion-dialogue.ts';
import type { ForeseenDeletion } from '../deployments/foreseen-deletion.ts';
import { addClusterFlags, type ClusterFlags } from '../flags.ts';
import { outputOption } from '../output/output.ts';
import { type OperatorSession, warn, withOperators } from './session.ts';

interface UninstallFlags extends ClusterFlags, DeletionFlags {}

/** `rukpakctl operator uninstall`: deletes an Operator or ClusterExtension, after listing its objects. */
export function uninstallCommand(): Command {
  const command = new Command('uninstall').addArgument(
    new Argument('<operatorName>', 'Name of the Operator or ClusterExtension'),
  );
  return addClusterFlags(addDeletionFlags(command)).addOption(outputOption()).action(uninstall);
}

async function uninstall(reference: string, flags: UninstallFlags): Promise<void> {
  const [{ extensionResources, extensionRow }, { awaitGone }] = await Promise.all([
    import('../../../operators/client/index.ts'),
    import('../deployments/awaiting.ts'),
  ]);
  await withOperators(flags, async (session) => {
    const { cluster, report, progress, signal } = session;
    const extensions = await session.extensions();
    const object = extensions.named(reference);
    const kind = object.kind as ExtensionKindName;
    const { name = '', uid = '' } = object.metadata;
    const resource = extensionResources[kind];
    // Webhooks and permissions refuse it before anybody is asked.
    await cluster.client.delete(resource, { name }, { dryRun: true, uid, signal });
    const foreseen = await progress(`looking at "${name}"`, () => foresee(session, object, flags));
    const { deployment, ...objects } = foreseen;
    const goes = objects.deletes.length === 0 ? ', which has installed nothing' : ', and with it:';
    const title = `${kind} "${name}" is deleted${goes}`;
    const warning = warningOf(extensionRow(object));
    if (warning !== undefined) warn(warning);
    await report.lines([title, ...deletionLines(objects, flags.output === 'wide')]);
    const result = { of: `${kind}/${name}`, ...objects };
    if (flags.dryRun === true) return await report.result({ ...result, deleted: false });
    await confirmDeletion(name, flags, signal);
    await cluster.client.delete(resource, { name }, { uid, signal });
    if (deployment !== undefined) {
      const { timeout } = flags;
      await progress(`waiting until "${name}" is gone`, () =>
        awaitGone(cluster.client, { deployment, timeout, signal }),
      );
    }
    await report.line(`${kind.toLowerCase()}.${resource.group} "${name}" deleted`);
    await report.result({ ...result, deleted: true });
  });
}

/** Nothing is installed for a ClusterExtension. */
function warningOf({ requiredBy }: ExtensionRow): string | undefined {
  const { operators = [], others = [] } = Object.groupBy(requiredBy, (name) =>
    name.includes('/') ? 'others' : 'operators',
  );
  if (operators.length > 0) {
    return `Operator "${operators.join('", "')}" requires it: "rukpak operators" installs it again`;
  }
  if (others.length === 0) return undefined;
  const names = others.map((each) => each.split('/').at(-1));
  return `ClusterExtension "${names.join('", "')}" requires it: "rukpak operators" does not install it again`;
}

interface Foreseen extends Omit<ForeseenDeletion, 'deployment'> {
  /** Undefined if the object has none of its own. */
  readonly deployment?: ForeseenDeletion['deployment'];
}

/** What is deleted with the object. */
async function foresee(
  { cluster, signal, extensions }: OperatorSession,
  object: KubernetesObject,
  { systemNamespace }: UninstallFlags,
): Promise<Foreseen> {
  const all = await extensions();
  const { installation } = await all.subjectOf(object);
  const { name } = installation.deployment?.metadata ?? {};
  const dependencies = all.deletedWith(object).map((each) => ({
    kind: 'Operator',
    name: each,
    note: 'nothing else requires it',
  }));
  if (name === undefined) return { deletes: dependencies, keeps: [], hidden: [], hooks: 0 };
  const { foreseeDeletion } = await import('../deployments/foreseen-deletion.ts');
  const found = await foreseeDeletion(cluster, { name, systemNamespace, signal });
  const own = { kind: 'BundleDeployment', name };
  return { ...found, deletes: [own, ...found.deletes, ...dependencies] };
}
