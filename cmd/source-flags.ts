import type { Command } from 'commander';
import { booleanFlag } from './flag-values.ts';

/** What sources of Bundles may show to which servers. */
export interface SourceFlags {
  readonly allowUnscopedSourceSecrets: boolean;
}

export function addSourceFlags(command: Command): Command {
  return command.addOption(
    booleanFlag(
      'allow-unscoped-source-secrets',
      'show source Secrets without annotation core.rukpak.io/source-hosts to any host that a Bundle names',
    ),
  );
}
