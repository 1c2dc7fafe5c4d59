import { existsSync } from 'node:fs';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { stringifyJson } from '../../api/json.ts';
import type { ServiceAccountRef } from '../../api/v1alpha1/deployment-policies.ts';
import { TerminalError } from '../../core/errors.ts';
import { type KubernetesObject, toYaml } from '../../core/sdk.ts';
import { collect } from '../flag-values.ts';
import { addRegistryFlags } from '../registry-flags.ts';
import { addCertificatesFlag } from './certificates.ts';
import {
  addClusterFlags,
  addConfigFlag,
  addInstallNamespaceFlag,
  addServerFlags,
} from './flags.ts';
import { logLine } from './loggers.ts';
import { progressOn, writeOutput } from './output.ts';
import type { PermissionsFlags } from './permissions/permission-objects.ts';

/** `rukpakctl permissions`: what a ServiceAccount needs for some content, as RBAC objects. */
export function permissionsCommand(): Command {
  const command = new Command('permissions')
    .addArgument(
      new Argument('<bundle>', 'directory or image that holds the bundle, or a BundleDeployment'),
    )
    .option(
      '--service-account <namespace/name>',
      'who gets the permissions (default: that of the BundleDeployment)',
      serviceAccount,
    )
    .option('--missing', 'only what the ServiceAccount does not have yet, as the cluster says')
    .option(
      '--existing-namespace <name>',
      'a namespace of the bundle that is there before it: what is needed in it is a Role; repeatable',
      collect,
      [],
    )
    .option('--class <name>', 'provisioner class of a directory or image, as render takes it')
    .option('--system-namespace <name>', 'namespace that the core runs in', 'rukpak-system')
    .addOption(
      new Option('-o, --output <format>', 'YAML documents, or a JSON List as kubectl prints it')
        .choices(['yaml', 'json'])
        .default('yaml'),
    );
  addInstallNamespaceFlag(
    command,
    'namespace for the objects of a registry bundle, as render takes it',
  );
  addCertificatesFlag(addConfigFlag(command));
  return addServerFlags(addRegistryFlags(addClusterFlags(command))).action(permissions);
}

function serviceAccount(text: string): ServiceAccountRef {
  const [namespace, name, ...rest] = text.split('/');
  if (namespace && name && rest.length === 0) return { namespace, name };
  throw new InvalidArgumentError('It must be NAMESPACE/NAME.');
}

async function permissions(bundle: string, flags: PermissionsFlags): Promise<void> {
  const [{ permissionsOfContent, permissionsOfDeployment }, { stopSignal }] = await Promise.all([
    import('./permissions/permission-objects.ts'),
    import('../../core/platform/runtime/index.ts'),
  ]);
  const progress = progressOn(process.stderr);
  const signal = stopSignal();
  const find = isContent(bundle) ? permissionsOfContent : permissionsOfDeployment;
  if (find === permissionsOfDeployment && flags.config !== undefined) {
    throw new TerminalError('--config: a BundleDeployment has a spec.config of its own');
  }
  const { objects, notes } = await progress(`reading ${bundle}`, () => find(bundle, flags, signal));
  for (const note of notes) process.stderr.write(logLine(note));
  await writeOutput([format(objects, flags.output)], process.stdout);
}

/** Image references have a slash, a tag or a digest; a name of an object has none of them. */
function isContent(text: string): boolean {
  return /[/:@~]|^\.+$/.test(text) || existsSync(text);
}

function format(objects: readonly KubernetesObject[], output: PermissionsFlags['output']): string {
  if (output === 'yaml') return toYaml(objects);
  return `${stringifyJson({ apiVersion: 'v1', kind: 'List', items: objects }, 2)}\n`;
}
