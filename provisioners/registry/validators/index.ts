import type { Installation } from '../installation/installation.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { apiServiceDeployments } from './api-service-deployments.ts';
import { conversionInAllNamespaces } from './conversion-in-all-namespaces.ts';
import { conversionOfOwnCrds } from './conversion-of-own-crds.ts';
import { conversionPrunes } from './conversion-prunes.ts';
import { deploymentNames } from './deployment-names.ts';
import { knownWebhookTypes } from './known-webhook-types.ts';
import { oneConversionPerCrd } from './one-conversion-per-crd.ts';
import { oneTargetPerPort } from './one-target-per-port.ts';
import { onlySupportedKinds } from './only-supported-kinds.ts';
import { roomForRoles } from './room-for-roles.ts';
import { servedCrdVersion } from './served-crd-version.ts';
import { supportedInstallMode } from './supported-install-mode.ts';
import { uniqueCrds } from './unique-crds.ts';
import { uniqueDeployments } from './unique-deployments.ts';
import { uniqueWebhooks } from './unique-webhooks.ts';
import { webhookDeployments } from './webhook-deployments.ts';
import { webhookNames } from './webhook-names.ts';
import { webhookRules } from './webhook-rules.ts';

/** Says why a bundle cannot be converted, or nothing. Pure. */
export type Validator = (bundle: RegistryBundle, installation: Installation) => string | undefined;

/** In order of checking: the first complaint is the one reported. */
export const validators: readonly Validator[] = [
  supportedInstallMode,
  roomForRoles,
  deploymentNames,
  uniqueDeployments,
  uniqueCrds,
  apiServiceDeployments,
  knownWebhookTypes,
  webhookDeployments,
  webhookNames,
  uniqueWebhooks,
  webhookRules,
  oneTargetPerPort,
  conversionInAllNamespaces,
  conversionOfOwnCrds,
  oneConversionPerCrd,
  conversionPrunes,
  onlySupportedKinds,
  servedCrdVersion,
];
