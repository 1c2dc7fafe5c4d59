import type { WebhookDefinition } from '../csv/webhook-definition.ts';

/** One that is asked whether, or how, an object is stored. */
export function isAdmissionWebhook({ type }: WebhookDefinition): boolean {
  return type === 'ValidatingAdmissionWebhook' || type === 'MutatingAdmissionWebhook';
}

/** One that turns custom resources of one version into those of another. */
export function isConversionWebhook({ type }: WebhookDefinition): boolean {
  return type === 'ConversionWebhook';
}
