import type { Command } from 'commander';
import { bindAddress } from './bind-address.ts';
import { addDeletionPolicyFlag, type DeletionPolicyFlag } from './deployment-default-flags.ts';
import { booleanFlag, withoutEffect } from './flag-values.ts';
import { addProcessFlags, type ProcessFlags } from './process-flags.ts';
import { addWebhookClientFlags, type WebhookClientFlags } from './webhook-clients.ts';
import { addWebhookServerFlags, type WebhookServerFlags } from './webhook-flags.ts';

export interface CrdGuardFlags {
  readonly guardCrdDeletion: boolean;
}

/** Flags of `rukpak crdvalidator`, and those for what is new. */
export interface CrdvalidatorFlags
  extends ProcessFlags,
    WebhookServerFlags,
    WebhookClientFlags,
    CrdGuardFlags,
    DeletionPolicyFlag {
  readonly metricsBindAddress: string;
}

export function addCrdvalidatorFlags(command: Command): Command {
  addProcessFlags(command);
  addWebhookServerFlags(command);
  addWebhookClientFlags(command);
  addCrdGuardFlags(command);
  addDeletionPolicyFlag(command);
  return command
    .option('--metrics-bind-address <address>', 'serves /metrics; 0 for none', bindAddress, ':8080')
    .addOption(withoutEffect('--enable-http2 [bool]', 'the webhooks speak HTTP/1.1'));
}

/** The flags that `rukpak all` takes as well. */
export function addCrdGuardFlags(command: Command): Command {
  return command.addOption(
    booleanFlag(
      'guard-crd-deletion',
      'refuse to delete CRDs of BundleDeployments while custom resources exist',
    ),
  );
}
