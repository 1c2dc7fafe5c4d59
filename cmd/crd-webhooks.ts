/** The ValidatingWebhookConfigurations that call the validators of CRDs. */
export function crdWebhookConfigurations(guardDeletion: boolean): readonly string[] {
  return guardDeletion
    ? ['crd-validation-webhook', 'crd-deletion-webhook']
    : ['crd-validation-webhook'];
}
