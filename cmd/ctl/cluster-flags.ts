import type { Command } from 'commander';

/** Which cluster a command talks to. */
export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export function addClusterFlags(command: Command): Command {
  return command
    .option('--kubeconfig <path>', 'kubeconfig file; KUBECONFIG or ~/.kube/config otherwise')
    .option('--context <name>', 'context of the kubeconfig; its current one otherwise');
}
