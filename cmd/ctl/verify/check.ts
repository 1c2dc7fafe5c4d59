import type { Resource } from '../../../core/platform/kube/index.ts';
import type { Cluster } from '../cluster.ts';
import type { ServerFlags } from '../flags.ts';

/** The result for one part of the installation. */
export interface Check {
  readonly subject: string;
  /** `skipped`: the installation lacks the part, or the user may not read it. */
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly message: string;
  /** The remedy. */
  readonly fix?: string;
}

export interface VerifyContext {
  readonly cluster: Cluster;
  readonly systemNamespace: string;
  readonly server: ServerFlags;
  readonly signal: AbortSignal;
}

/** Checks one part; a thrown error becomes a failed check. */
export type Checker = (context: VerifyContext) => Promise<readonly Check[]>;

/** Namespace of the CRD validator, fixed in its manifests. */
export const crdNamespace = 'crdvalidator-system';

export function ok(subject: string, message: string): Check {
  return { subject, state: 'ok', message };
}

export function skipped(subject: string, message: string): Check {
  return { subject, state: 'skipped', message };
}

export function warning(subject: string, message: string, fix: string): Check {
  return { subject, state: 'warning', message, fix };
}

export function failed(subject: string, message: string, fix: string): Check {
  return { subject, state: 'failed', message, fix };
}

/** `ok       <subject>: <message>; <remedy>`, on one line. */
export function checkLine({ subject, state, message, fix }: Check): string {
  const text = `${subject}: ${message}${fix === undefined ? '' : `; ${fix}`}`;
  return `${state.padEnd(7)}  ${text.replaceAll(/\s*\n\s*/g, ' ')}`;
}

const core = { group: '', version: 'v1' };

export const serviceResource: Resource = {
  ...core,
  kind: 'Service',
  plural: 'services',
  namespaced: true,
};

/** Webhook configurations by their kind. */
export const webhookConfigurations: ReadonlyMap<string, Resource> = new Map(
  ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'].map((kind) => [
    kind,
    {
      group: 'admissionregistration.k8s.io',
      version: 'v1',
      kind,
      plural: `${kind.toLowerCase()}s`,
      namespaced: false,
    },
  ]),
);
