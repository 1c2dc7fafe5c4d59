import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { JsonObject } from '../../api/json.ts';
import { isMap } from '../../api/json-fields.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import type { KubeconfigOptions } from '../../core/platform/kube/index.ts';
import { durationOption, hideRefusedFlags, httpUrl } from '../flags/flag-values.ts';
import { logLine } from './output/loggers.ts';
import { isUnread } from './output/write-output.ts';

/** The cluster that a command talks to, and the identity that it uses. */
export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly as?: string;
  readonly asGroup?: readonly string[];
}

/** The flags of every command that talks to a cluster. */
export function addClusterFlags(command: Command): Command {
  return command
    .option(
      '--kubeconfig <path>',
      'Path of the kubeconfig file (default: KUBECONFIG, else ~/.kube/config)',
    )
    .option('--context <name>', 'Context of the kubeconfig (default: its current context)')
    .option('--as <user>', 'User to impersonate, such as system:serviceaccount:<namespace>:<name>')
    .option(
      '--as-group <group>',
      'Group to impersonate, with --as; repeatable',
      (group: string, groups: readonly string[] | undefined) => [...(groups ?? []), group],
    );
}

/** For commands whose content server knows the user only by a token or certificate. */
export function addOwnClusterFlags(command: Command): Command {
  return hideRefusedFlags(addClusterFlags(command), '--as', '--as-group');
}

/** For commands with one namespace to read or install into: BundleDeployments have none. */
export function namespaceOption(meaning: string): Option {
  return new Option('-n, --namespace <name>', meaning);
}

/** @throws TerminalError for --as-group without --as. */
export function kubeconfigOptions(flags: ClusterFlags): KubeconfigOptions {
  const { kubeconfig, context, as, asGroup } = flags;
  if (asGroup !== undefined && as === undefined) {
    throw new TerminalError('--as-group needs --as: name the user who is in the group');
  }
  return {
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
    ...(as === undefined ? {} : { as }),
    // Completion passes only the last value, as a text.
    ...(asGroup === undefined ? {} : { asGroups: [asGroup].flat() }),
  };
}

/** Flags of commands that show what would be installed into a namespace. */
export interface InstallNamespaceFlags {
  readonly installNamespace?: string;
  readonly namespace?: string;
}

export function addInstallNamespaceFlag(command: Command, meaning: string): Command {
  return command
    .option('--install-namespace <name>', meaning)
    .addOption(namespaceOption('Same as --install-namespace'));
}

/** @throws TerminalError when the two flags contradict each other. */
export function installNamespaceIn({
  installNamespace,
  namespace,
}: InstallNamespaceFlags): string | undefined {
  if (installNamespace === undefined || namespace === undefined || installNamespace === namespace) {
    return installNamespace ?? namespace;
  }
  throw new TerminalError(
    `--install-namespace ${installNamespace} and --namespace ${namespace} mean the same: pass only one of them`,
  );
}

export interface ConfigFlags {
  readonly config?: string;
}

export function addConfigFlag(command: Command): Command {
  return command.option(
    '--config <file>',
    'YAML file of spec.config of the BundleDeployment, or its text in braces, such as watchNamespace and env of a registry bundle, or values of a chart',
  );
}

/**
 * Text in braces is the config itself, so that `{}` names an empty one.
 * @throws TerminalError that names the flag, when it is not a map in YAML
 */
export async function deploymentConfig({ config }: ConfigFlags): Promise<JsonObject | undefined> {
  if (config === undefined) return undefined;
  try {
    const { parseYaml } = await import('../../core/sdk.ts');
    const value = parseYaml(config.startsWith('{') ? config : await readFile(config));
    if (isMap(value)) return value;
    throw new TerminalError('it is not a map: write the fields of spec.config, without "config:"');
  } catch (error) {
    throw new TerminalError(`--config ${config}: ${errorMessage(error)}`, { cause: error });
  }
}

/** Secret of the CA in RukPak's installation with cert-manager. */
export const defaultCaSecret = 'rukpak-ca';

/** How to reach the content server. */
export interface ServerFlags {
  /** URL of a direct connection, instead of one through the API server. */
  readonly server?: string;
  /** PEM file with the CA of `server` (default: the system's CAs). */
  readonly caFile?: string;
  /** Secret with the CA of a server behind a Service, key `ca.crt`. */
  readonly caSecretName: string;
}

/** How to reach the server that accepts uploads. */
export interface UploadFlags extends ServerFlags {
  readonly systemNamespace: string;
  readonly uploadServiceName: string;
  /** Milliseconds. */
  readonly timeout: number;
}

export function addServerFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--ca-secret-name <name>',
        'Secret with the CA of the content server in key ca.crt',
      ).default(defaultCaSecret, `"core-cert", else "${defaultCaSecret}"`),
    )
    .option('--server <url>', 'URL of the content server, instead of a port-forward', httpUrl)
    .option('--ca-file <path>', 'CA (PEM) of --server (default: the system’s CAs)');
}

export function addUploadFlags(command: Command): Command {
  return addServerFlags(
    command
      .option('--system-namespace <name>', 'Namespace that core runs in', 'rukpak-system')
      .option('--upload-service-name <name>', 'Name of core’s Service', 'core')
      .addOption(durationOption('--timeout', 'Maximum time for each step', '60s')),
  );
}

export interface WatchFlag {
  readonly watch?: true;
}

export function watchOption(meaning: string): Option {
  return new Option('-w, --watch', `${meaning}, until Ctrl-C`);
}

/** Milliseconds. */
const pause = 1_000;

/**
 * Runs `work` once, or every second until the signal is aborted or nobody reads standard output any
 * more (`| head`), which is no error. Once it has succeeded, it goes on after requests without an
 * answer, such as during a restart of the API server, and reports each such error once on stderr.
 */
export async function repeated(
  { watch, signal }: { readonly watch: boolean; readonly signal: AbortSignal },
  work: () => Promise<void>,
): Promise<void> {
  if (!watch) return await work();
  let problem: string | undefined;
  try {
    await work();
    while (!isUnread(process.stdout)) {
      await delay(pause, undefined, { signal });
      const before = problem;
      problem = await unanswered(work);
      if (problem !== undefined && problem !== before) {
        process.stderr.write(logLine(`${problem}: retrying every second`));
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** The error of work that got no answer from the API server; undefined when it succeeded. */
async function unanswered(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    const { isUnreachable } = await import('../../core/platform/kube/index.ts');
    if (isUnreachable(error)) return errorMessage(error);
    throw error;
  }
}
