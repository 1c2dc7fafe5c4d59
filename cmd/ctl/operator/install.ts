import { Argument, Command } from 'commander';
import type { KubernetesObject } from '../../../api/meta.ts';
import { TerminalError } from '../../../core/errors.ts';
import type { ExtensionKindName } from '../../../operators/client/index.ts';
import { durationOption } from '../../flags/flag-values.ts';
import { awaitReady } from './await-extension.ts';
import { packageNotFound } from './info.ts';
import {
  addResolutionFlags,
  channelOption,
  kindToCreate,
  type OperatorFlags,
  type OperatorSession,
  refuseDeleted,
  warn,
  withOperators,
} from './session.ts';

interface InstallFlags extends OperatorFlags {
  readonly channel?: readonly string[];
  readonly version?: string;
  readonly name?: string;
  readonly watch?: true;
  readonly dryRun?: true;
  readonly clusterExtension?: true;
  readonly namespace?: string;
  readonly serviceAccount?: string;
  readonly catalog?: string;
  /** Milliseconds. */
  readonly timeout: number;
}

/** `rukpakctl operator install`: creates an Operator or a ClusterExtension. */
export function installCommand(): Command {
  const command = new Command('install')
    .addArgument(new Argument('<packageName>', 'Name of the package'))
    .addOption(
      channelOption('Channel of the package (default: all); repeatable for a ClusterExtension'),
    )
    .option(
      '-v, --version <versionRange>',
      'Version, or range of versions such as ">=1.2, <2" (default: any)',
    )
    .option('--name <name>', 'Name of the object (default: that of the package)')
    .option('-w, --watch', 'Wait until it is healthy, and print its progress')
    .addOption(durationOption('--timeout', 'Maximum time for --watch', '5m'))
    .option('--dry-run', 'Check the request, and create nothing')
    .option('--cluster-extension', 'Create a ClusterExtension instead of an Operator')
    .option(
      '-n, --namespace <name>',
      'Existing namespace to install into; required with --cluster-extension',
    )
    .option(
      '-s, --service-account <name>',
      'ServiceAccount in that namespace, which core impersonates',
    )
    .option('--catalog <name>', 'ClusterCatalog to install a ClusterExtension from (default: any)');
  return addResolutionFlags(command).action(install);
}

async function install(packageName: string, flags: InstallFlags): Promise<void> {
  const { newExtension, extensionResources } = await import('../../../operators/client/index.ts');
  await withOperators(flags, async (session) => {
    const extensions = await session.extensions();
    const kind = kindToCreate(extensions, flags.clusterExtension === true);
    checkFlags(kind, flags);
    const { name = packageName, namespace, serviceAccount, catalog, version } = flags;
    const place = { namespace, serviceAccount, catalog };
    const wish = { kind, name, packageName, version, channels: flags.channel, ...place };
    const object = newExtension(wish);
    const live = extensions.get(kind, name);
    const isDryRun = flags.dryRun === true;
    const applied = live ?? (await create(session, object, isDryRun));
    // Applying again would remove what an earlier installation has set and this one does not name.
    if (live !== undefined) await checkExisting(live, object);
    const resource = extensionResources[kind];
    const done = live === undefined ? 'created' : 'unchanged';
    const how = isDryRun ? ' (dry run)' : '';
    await session.report.line(`${kind.toLowerCase()}.${resource.group} "${name}" ${done}${how}`);
    const isWatched = flags.watch === true && !isDryRun;
    const ready = isWatched
      ? await awaitReady(session, { resource, name, timeout: flags.timeout })
      : undefined;
    await session.report.result({ object: applied, result: done, ...(ready && { state: ready }) });
  });
}

/** @throws TerminalError for flags that the kind does not have */
function checkFlags(kind: ExtensionKindName, flags: InstallFlags): void {
  const { namespace, serviceAccount, catalog } = flags;
  if (kind === 'ClusterExtension') {
    if (namespace !== undefined) return;
    throw new TerminalError('a ClusterExtension needs --namespace');
  }
  const [flag] = Object.entries({ namespace, 'service-account': serviceAccount, catalog }).find(
    ([, value]) => value !== undefined,
  ) ?? [undefined];
  if (flag === undefined) return;
  throw new TerminalError(`an Operator has no --${flag}: pass --cluster-extension too`);
}

/**
 * What cannot be resolved is not created, unless a catalog that may help cannot be read.
 * @throws TerminalError
 */
async function checkPackage(session: OperatorSession, object: KubernetesObject): Promise<void> {
  const { planUpgrade } = await import('../../../operators/client/index.ts');
  const subject = await (await session.extensions()).subjectOf(object);
  const { conflict } = subject.installation;
  if (conflict !== undefined) throw new TerminalError(conflict);
  const catalogs = await session.catalogs();
  const { packageName } = subject.extension.request;
  const { usesCatalog } = subject.extension;
  const { plan, found } = await session.progress('reading catalogs', async () => ({
    plan: await planUpgrade(subject, catalogs),
    found: await catalogs.findPackage(packageName, usesCatalog),
  }));
  if (plan.refusal === undefined) return;
  if (catalogs.unread.some(({ catalog }) => usesCatalog(catalog))) {
    return warn(`the request cannot be checked: ${plan.refusal}`);
  }
  if (found.length === 0) throw await packageNotFound(catalogs, packageName);
  throw new TerminalError(`nothing is created: ${plan.refusal}`);
}

/** @throws TerminalError if an existing object asks for something else, or is being deleted */
async function checkExisting(live: KubernetesObject, wanted: KubernetesObject): Promise<void> {
  const { differingFields, extensionRow } = await import('../../../operators/client/index.ts');
  refuseDeleted(live);
  const { kind, name, package: owner } = extensionRow(live);
  const { package: packageName } = extensionRow(wanted);
  if (owner !== packageName) {
    throw new TerminalError(
      `${kind} "${name}" exists and is of package "${owner}": pass another --name`,
    );
  }
  const fields = differingFields(live, wanted);
  if (fields.length === 0) return;
  throw new TerminalError(
    `${kind} "${name}" exists and has another ${fields.join(', ')}: use rukpakctl operator upgrade ${name}`,
  );
}

/** @throws TerminalError if nothing could be installed */
async function create(
  session: OperatorSession,
  object: KubernetesObject,
  dryRun: boolean,
): Promise<KubernetesObject> {
  const { extensionResources, fieldManager } = await import('../../../operators/client/index.ts');
  await checkPackage(session, object);
  const { cluster, signal } = session;
  const resource = extensionResources[object.kind as ExtensionKindName];
  return await cluster.client.apply(resource, object, { fieldManager, dryRun, signal });
}
