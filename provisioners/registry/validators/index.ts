import type { Installation } from '../installation.ts';
import type { BundleProblem, RegistryBundle } from '../registry-bundle.ts';
import {
  apiServiceDeployments,
  deploymentNames,
  oneTargetPerPort,
  uniqueDeployments,
} from './deployments.ts';
import { roomForRoles, supportedInstallMode } from './install-modes.ts';
import { onlySupportedKinds, servedCrdVersion, uniqueCrds } from './manifests.ts';
import {
  conversionInAllNamespaces,
  conversionOfOwnCrds,
  conversionPrunes,
  knownWebhookTypes,
  oneConversionPerCrd,
  uniqueWebhooks,
  webhookDeployments,
  webhookNames,
  webhookRules,
} from './webhooks.ts';

/** Finds every reason of one kind why a bundle cannot be converted. Pure. */
type Validator = (bundle: RegistryBundle, installation: Installation) => Iterable<BundleProblem>;

/** In order of report: the first problem of the first of them begins the message. */
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

/** Bounds the message: a condition holds 32 KiB, and a bundle may have thousands of problems. */
const maxProblems = 50;

/**
 * The message of all problems of a bundle, or nothing where it has none: a single one as it is, of
 * several the first, and the others on lines below it.
 */
export function problemsMessage(
  bundle: RegistryBundle,
  installation: Installation,
): string | undefined {
  const found = new Set<string>();
  for (const message of allMessages(bundle, installation)) {
    found.add(message);
    if (found.size > maxProblems) break;
  }
  const [first, ...others] = found;
  if (first === undefined || others.length === 0) return first;
  const listed = others.slice(0, maxProblems - 1).map((message) => `- ${message}`);
  const problems = listed.length === 1 ? 'problem' : 'problems';
  return others.length === listed.length
    ? [first, `and ${listed.length} more ${problems}:`, ...listed].join('\n')
    : [first, `and more than ${listed.length} more problems:`, ...listed, '- and others'].join(
        '\n',
      );
}

function* allMessages(bundle: RegistryBundle, installation: Installation): Generator<string, void> {
  for (const validate of validators) {
    for (const { message } of validate(bundle, installation)) yield message;
  }
}
