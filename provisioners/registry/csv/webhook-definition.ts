import type { JsonValue } from '../../../core/sdk.ts';
import type { Field } from './field.ts';

/** One of spec.webhookdefinitions, with OLM's defaults where a field is absent. */
export interface WebhookDefinition {
  readonly type: string;
  readonly generateName: string;
  readonly deploymentName: string;
  /** Of the Service; 443 where absent. */
  readonly containerPort: number;
  /** Of the container, by number or name; the containerPort where absent. */
  readonly targetPort: number | string;
  readonly webhookPath: string | undefined;
  readonly conversionCrds: readonly string[];
  /**
   * As written, by the names that admissionregistration.k8s.io/v1 has for them: rules, failurePolicy,
   * matchPolicy, objectSelector, sideEffects, timeoutSeconds, admissionReviewVersions,
   * reinvocationPolicy.
   */
  readonly fields: Readonly<Record<string, JsonValue>>;
}

const defaultPort = 443;

const passedOn = [
  'rules',
  'failurePolicy',
  'matchPolicy',
  'objectSelector',
  'sideEffects',
  'timeoutSeconds',
  'admissionReviewVersions',
  'reinvocationPolicy',
] as const;

export function readWebhookDefinition(definition: Field): WebhookDefinition {
  const containerPort = definition.get('containerPort').integer() || defaultPort;
  const fields = passedOn.flatMap((name) => {
    const { raw } = definition.get(name);
    return raw === undefined ? [] : [[name, raw] as const];
  });
  return {
    type: definition.get('type').string(),
    generateName: definition.get('generateName').string(),
    deploymentName: definition.get('deploymentName').string(),
    containerPort,
    targetPort: definition.get('targetPort').integerOrString() || containerPort,
    webhookPath: definition.get('webhookPath').string() || undefined,
    conversionCrds: definition.get('conversionCRDs').strings() ?? [],
    fields: Object.fromEntries(fields),
  };
}
