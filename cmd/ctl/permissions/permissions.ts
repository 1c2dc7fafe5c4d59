import { existsSync } from 'node:fs';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { stringifyJson } from '../../../api/json.ts';
import type { ServiceAccountRef } from '../../../api/v1alpha1/deployment-policies.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { type KubernetesObject, toYaml } from '../../../core/sdk.ts';
import { collect, listFlag } from '../../flags/flag-values.ts';
import { addRegistryFlags } from '../../flags/registry-flags.ts';
import { addCertificatesFlag } from '../certificates.ts';
import {
  addClusterFlags,
  addConfigFlag,
  addInstallNamespaceFlag,
  addServerFlags,
} from '../flags.ts';
import { logLine } from '../output/loggers.ts';
import { progressOn, writeOutput } from '../output/output.ts';
import type { PermissionsFlags } from './permission-objects.ts';

/**
 * `rukpakctl permissions`: the permissions that a ServiceAccount needs for some content, as RBAC
 * objects.
 */
export function permissionsCommand(): Command {
  const command = new Command('permissions')
    .addArgument(
      new Argument('<bundle>', 'Directory or image of the bundle, or name of a BundleDeployment'),
    )
    .option(
      '--service-account <namespace/name>',
      'ServiceAccount that gets the permissions (default: spec.serviceAccount of the BundleDeployment)',
      serviceAccount,
    )
    .option(
      '--missing',
      'Print only permissions that the ServiceAccount does not have on the cluster',
    )
    .addOption(
      listFlag(
        '--existing-namespace <name>',
        'Namespace that exists before the bundle is installed, so that a Role is enough for its objects',
        collect,
      ),
    )
    .option('--class <name>', 'Provisioner class of a directory or image (default: as for render)')
    .option('--system-namespace <name>', 'Namespace that core runs in', 'rukpak-system')
    .addOption(
      new Option(
        '-o, --output <format>',
        'Output format: YAML documents, or a JSON List as kubectl prints it',
      )
        .choices(['yaml', 'json'])
        .default('yaml'),
    );
  addInstallNamespaceFlag(command, 'Install namespace of a registry bundle, as for render');
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
    import('./permission-objects.ts'),
    import('../../../core/platform/runtime/index.ts'),
  ]);
  const progress = progressOn(process.stderr);
  const signal = stopSignal();
  const find = isContent(bundle, flags) ? permissionsOfContent : permissionsOfDeployment;
  if (find === permissionsOfDeployment && flags.config !== undefined) {
    throw new TerminalError(
      '--config cannot be used for a BundleDeployment, which has its own spec.config',
    );
  }
  const { objects, notes } = await progress(`reading ${bundle}`, () =>
    find(bundle, flags, signal),
  ).catch((error: unknown) => {
    if (find === permissionsOfContent || !existsSync(bundle)) throw error;
    const way = `for directory "${bundle}" add --service-account NAMESPACE/NAME`;
    throw new TerminalError(`${errorMessage(error)}; ${way}`, { cause: error });
  });
  for (const note of notes) process.stderr.write(logLine(note));
  await writeOutput([format(objects, flags.output)], process.stdout);
}

/**
 * Image references contain a slash, a tag or a digest; names of objects contain none of them. A
 * directory has no ServiceAccount: without one, a name is that of a BundleDeployment, as its
 * condition writes it, also where a directory has the same name.
 */
function isContent(text: string, { serviceAccount: account }: PermissionsFlags): boolean {
  return /[/:@~]|^\.+$/.test(text) || (account !== undefined && existsSync(text));
}

function format(objects: readonly KubernetesObject[], output: PermissionsFlags['output']): string {
  if (output === 'yaml') return toYaml(objects);
  return `${stringifyJson({ apiVersion: 'v1', kind: 'List', items: objects }, 2)}\n`;
}
