import { type Command, Option } from 'commander';
import { TerminalError } from '../../core/errors.ts';
import type { KubeconfigOptions } from '../../core/platform/kube/index.ts';

/** Which cluster a command talks to, and as whom. */
export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly as?: string;
  readonly asGroup?: readonly string[];
}

/** The flags of every command that talks to a cluster. */
export function addClusterFlags(command: Command): Command {
  return command
    .option('--kubeconfig <path>', 'kubeconfig file; KUBECONFIG or ~/.kube/config otherwise')
    .option('--context <name>', 'context of the kubeconfig; its current one otherwise')
    .option('--as <user>', 'user to act as; system:serviceaccount:<namespace>:<name> is one too')
    .option(
      '--as-group <group>',
      'group to act in, with --as; repeatable',
      (group: string, groups: readonly string[] | undefined) => [...(groups ?? []), group],
    );
}

/** Of commands that look into one namespace, or install into it: BundleDeployments have none. */
export function namespaceOption(meaning: string): Option {
  return new Option('-n, --namespace <name>', meaning);
}

/** @throws TerminalError where a group is to be acted in by nobody. */
export function kubeconfigOptions(flags: ClusterFlags): KubeconfigOptions {
  const { kubeconfig, context, as, asGroup } = flags;
  if (asGroup !== undefined && as === undefined) {
    throw new TerminalError('--as-group needs --as: name the user who is in the group');
  }
  return {
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
    ...(as === undefined ? {} : { as }),
    // Completion knows the last one alone, as a text.
    ...(asGroup === undefined ? {} : { asGroups: [asGroup].flat() }),
  };
}
