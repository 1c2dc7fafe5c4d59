import type { Command } from 'commander';
import { TerminalError } from '../../core/errors.ts';
import { namespaceOption } from './cluster-flags.ts';

/** Of commands that show what would be installed into a namespace. */
export interface InstallNamespaceFlags {
  readonly installNamespace?: string;
  readonly namespace?: string;
}

export function addInstallNamespaceFlag(command: Command, meaning: string): Command {
  return command
    .option('--install-namespace <name>', meaning)
    .addOption(namespaceOption('the same as --install-namespace'));
}

/** @throws TerminalError where the two flags contradict each other. */
export function installNamespaceIn({
  installNamespace,
  namespace,
}: InstallNamespaceFlags): string | undefined {
  if (installNamespace === undefined || namespace === undefined || installNamespace === namespace) {
    return installNamespace ?? namespace;
  }
  throw new TerminalError(
    `--install-namespace ${installNamespace} and --namespace ${namespace} are one flag: give one of them`,
  );
}
