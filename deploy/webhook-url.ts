import { z } from 'zod';
import type { KubernetesObject } from '../api/meta.ts';

const webhooksSchema = z.array(
  z.looseObject({ clientConfig: z.object({ service: z.object({ path: z.string() }) }) }),
);

/**
 * The object with a URL for its webhooks instead of their Service; objects of other kinds are
 * unchanged.
 */
export function callWebhooksAt(object: KubernetesObject, url: string): KubernetesObject {
  if (!/^(Validating|Mutating)WebhookConfiguration$/.test(object.kind)) return object;
  const base = checked(url);
  const webhooks = webhooksSchema.parse(object['webhooks']).map((webhook) => ({
    ...webhook,
    clientConfig: { url: base + webhook.clientConfig.service.path },
  }));
  return { ...object, webhooks };
}

/** The URL, if the API server accepts it: https, without user, query or fragment. */
function checked(url: string): string {
  const parsed = URL.parse(url);
  const isPlain = parsed?.username === '' && parsed.search === '' && parsed.hash === '';
  if (parsed?.protocol !== 'https:' || !isPlain) {
    throw new Error(
      `the webhook URL "${url}" must look like https://HOST:PORT, without user, query or fragment`,
    );
  }
  return parsed.href.replace(/\/+$/, '');
}
