import type { Installation } from '../installation/installation.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { isConversionWebhook } from '../webhooks/admission-webhook.ts';

/**
 * A CRD is converted in all namespaces by one operator. What other modes the CSV has besides is no
 * obstacle, as it is in OLM: the one that is chosen counts.
 */
export function conversionInAllNamespaces(
  { csv }: RegistryBundle,
  { targetNamespaces }: Installation,
): string | undefined {
  const webhook = csv.webhookDefinitions.find(isConversionWebhook);
  if (webhook === undefined || targetNamespaces.includes('')) return undefined;
  return `bundle contains conversion webhook "${webhook.generateName}" and is to watch namespaces [${targetNamespaces.join(' ')}] - conversion webhooks are only supported in AllNamespaces install mode; remove watchNamespace and watchNamespaces from spec.config of the BundleDeployment`;
}
