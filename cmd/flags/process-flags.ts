import { type Command, InvalidArgumentError, Option } from 'commander';
import { errorMessage } from '../../core/errors.ts';
import { defaultHealthProbeBindAddress } from '../../core/manager/index.ts';
import { podNamespace } from '../../core/platform/kube/index.ts';
import type { LogLevel } from '../../core/platform/observe/index.ts';
import { parseBindAddress } from '../../core/platform/runtime/index.ts';
import { withoutEffect } from './flag-values.ts';

/** Flags of every program of the system. */
export interface ProcessFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly systemNamespace?: string;
  readonly healthProbeBindAddress: string;
  readonly zapLogLevel: LogLevel;
}

export function addProcessFlags(
  command: Command,
  healthProbeBindAddress = defaultHealthProbeBindAddress,
): Command {
  return command
    .option(
      '--kubeconfig <path>',
      'Path of the kubeconfig file (default: KUBECONFIG, else ~/.kube/config, else the pod’s ServiceAccount)',
    )
    .option('--context <name>', 'Context of the kubeconfig (default: its current context)')
    .option(
      '--system-namespace <name>',
      'Namespace of Secrets and leases (default: the pod’s, else rukpak-system)',
    )
    .option(
      '--health-probe-bind-address <address>',
      'Address that serves /healthz and /readyz; 0 disables it',
      bindAddress,
      healthProbeBindAddress,
    )
    .addOption(
      new Option('--zap-log-level <level>', 'Lowest level of log lines: debug, info, warn or error')
        .argParser(logLevel)
        .default('info'),
    )
    .addOption(withoutEffect('--zap-devel [bool]', 'logs are JSON lines'))
    .addOption(withoutEffect('--zap-encoder <encoder>', 'logs are JSON lines'))
    .addOption(withoutEffect('--zap-stacktrace-level <level>', 'known errors have no stack'))
    .addOption(withoutEffect('--zap-time-encoding <encoding>', 'times are ISO 8601'));
}

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** All numbers of zap are more verbose than info. */
function logLevel(text: string): LogLevel {
  const level = levels.find((level) => level === text.toLowerCase());
  if (level !== undefined) return level;
  if (/^[1-9][0-9]*$/.test(text)) return 'debug';
  throw new InvalidArgumentError('It must be debug, info, warn, error, or a number of at least 1.');
}

/** The flag, otherwise the pod's namespace, otherwise rukpak-system. */
export function systemNamespaceOf(
  { systemNamespace }: Pick<ProcessFlags, 'systemNamespace'>,
  otherwise?: string,
): string {
  if (systemNamespace !== undefined && systemNamespace !== '') return systemNamespace;
  return podNamespace(otherwise);
}

/** `:8081` or `host:8081`; `0` disables it. */
export function bindAddress(text: string): string {
  try {
    parseBindAddress(text);
    return text;
  } catch (error) {
    throw new InvalidArgumentError(`${errorMessage(error)}.`);
  }
}

/** `:8443` or `host:8443`, for a server that cannot be disabled. */
export function listenAddress(text: string): string {
  if (isAddress(text)) return text;
  throw new InvalidArgumentError('It is not an address to listen on: use ":8443" or "host:8443".');
}

function isAddress(text: string): boolean {
  try {
    return parseBindAddress(text) !== undefined;
  } catch {
    return false;
  }
}
