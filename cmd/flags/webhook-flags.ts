import { type Command, InvalidArgumentError, type Option } from 'commander';
import { addWebhookClientFlags, type WebhookClientFlags } from '../webhooks/webhook-clients.ts';
import { addDeletionPolicyFlag, type DeletionPolicyFlag } from './deployment-flags.ts';
import {
  booleanFlag,
  collectHosts,
  durationOption,
  listFlag,
  withoutEffect,
} from './flag-values.ts';
import { addProcessFlags, bindAddress, listenAddress, type ProcessFlags } from './process-flags.ts';

export interface WebhookServerFlags {
  readonly webhookBindAddress: string;
  readonly webhookHost: readonly string[];
  readonly certDir?: string;
}

export interface AdmissionFlags {
  readonly requireServiceAccount: boolean;
}

/** Flags of `rukpak webhooks`: those of v0.16, and new ones. */
export interface WebhookFlags
  extends ProcessFlags,
    WebhookServerFlags,
    WebhookClientFlags,
    AdmissionFlags {
  readonly metricsBindAddress: string;
  readonly shutdownDelayDuration?: number;
  readonly issueCertificate: readonly IssuedCertificate[];
}

export function addWebhookFlags(command: Command): Command {
  addProcessFlags(command);
  addWebhookServerFlags(command);
  addWebhookClientFlags(command);
  addAdmissionFlags(command);
  return command
    .addOption(shutdownDelayOption())
    .option(
      '--metrics-bind-address <address>',
      'Address that serves /metrics; 0 disables it',
      bindAddress,
      ':8080',
    )
    .addOption(
      listFlag(
        '--issue-certificate <secret=hosts>',
        'Secret and host names of a serving certificate of another process; the webhooks issue it, store it in the Secret and renew it',
        parseIssuedCertificate,
      ),
    )
    .addOption(withoutEffect('--enable-http2 [bool]', 'webhooks serve HTTP/1.1'))
    .addOption(booleanFlag('leader-elect', 'No effect: every replica answers').hideHelp());
}

function shutdownDelayOption(): Option {
  return durationOption(
    '--shutdown-delay-duration',
    'Time for which the webhooks answer after SIGTERM while /readyz fails: a Service needs it to send changes to another replica (default: none)',
  );
}

/** Flags that `rukpak all` has too. */
export function addWebhookServerFlags(command: Command): Command {
  return command
    .option(
      '--webhook-bind-address <address>',
      'Address that the webhooks listen on',
      listenAddress,
      ':9443',
    )
    .addOption(
      listFlag(
        '--webhook-host <host>',
        'Host name or IP address at which the API server reaches webhooks that run outside the cluster',
        collectHosts,
      ),
    )
    .option(
      '--cert-dir <dir>',
      'Directory with tls.crt and tls.key of the webhooks (default: the process issues its own certificate)',
    );
}

/** Admission flags that `rukpak core` and `rukpak all` have too. */
export function addAdmissionFlags(command: Command): Command {
  return command.addOption(
    booleanFlag(
      'require-service-account',
      'Refuse BundleDeployments without spec.serviceAccount (webhooks), and objects without a namespace if spec.installNamespace is unset (core)',
    ),
  );
}

export interface CrdGuardFlags {
  readonly guardCrdDeletion: boolean;
}

/** Flags of `rukpak crdvalidator`: those of v0.16, and new ones. */
export interface CrdvalidatorFlags
  extends ProcessFlags,
    WebhookServerFlags,
    WebhookClientFlags,
    CrdGuardFlags,
    DeletionPolicyFlag {
  readonly metricsBindAddress: string;
  readonly shutdownDelayDuration?: number;
}

export function addCrdvalidatorFlags(command: Command): Command {
  addProcessFlags(command);
  addWebhookServerFlags(command);
  addWebhookClientFlags(command);
  addCrdGuardFlags(command);
  addDeletionPolicyFlag(
    command,
    'Default of spec.deletionPolicy for deletion warnings; use the value of core’s flag',
  );
  return command
    .addOption(shutdownDelayOption())
    .option(
      '--metrics-bind-address <address>',
      'Address that serves /metrics; 0 disables it',
      bindAddress,
      ':8080',
    )
    .addOption(withoutEffect('--enable-http2 [bool]', 'webhooks serve HTTP/1.1'));
}

/** Flags that `rukpak all` has too. */
export function addCrdGuardFlags(command: Command): Command {
  return command.addOption(
    booleanFlag(
      'guard-crd-deletion',
      'Refuse to delete CRDs of BundleDeployments while custom resources exist',
    ),
  );
}

/** A serving certificate that the webhooks process stores in a Secret for another process. */
export interface IssuedCertificate {
  readonly secretName: string;
  readonly hosts: readonly string[];
}

/** Reads `<secret>=<host>,<host>…`; repeated flags add up. */
export function parseIssuedCertificate(
  text: string,
  previous: readonly IssuedCertificate[],
): readonly IssuedCertificate[] {
  const [secretName = '', hosts = '', ...rest] = text.split('=');
  const names = collectHosts(hosts, []);
  if (secretName === '' || names.length === 0 || rest.length > 0) {
    throw new InvalidArgumentError('Give <secret>=<host>[,<host>…].');
  }
  return [...previous, { secretName, hosts: names }];
}

/** The ValidatingWebhookConfigurations that call the validators of CRDs. */
export function crdWebhookConfigurations(guardDeletion: boolean): readonly string[] {
  return guardDeletion
    ? ['crd-validation-webhook', 'crd-deletion-webhook']
    : ['crd-validation-webhook'];
}
