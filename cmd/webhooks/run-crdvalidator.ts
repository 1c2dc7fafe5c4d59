import { existsSync } from 'node:fs';
import type { Logger } from '../../core/contracts/logger.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { connect } from '../../core/platform/kube/index.ts';
import { crdRoutes } from '../../webhooks/index.ts';
import { systemNamespaceOf } from '../flags/process-flags.ts';
import { type CrdvalidatorFlags, crdWebhookConfigurations } from '../flags/webhook-flags.ts';
import { serveWebhooks } from './serve-webhooks.ts';
import {
  mountedCertificates,
  ownCertificates,
  type WebhookCertificates,
} from './webhook-certificates.ts';

/** Mount path of cert-manager's certificate in v0.16's manifests. */
const mountedFolder = '/etc/admission-webhook/tls';
const certificateSecretName = 'crd-validation-webhook-serving-certificate';
const serviceName = 'crd-validation-webhook';

/** Reviews changes of CRDs until the signal is aborted. */
export async function runCrdvalidator(
  flags: CrdvalidatorFlags,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const clock = systemClock;
  const { kubeconfig, context, guardCrdDeletion: guardDeletion, defaultDeletionPolicy } = flags;
  const kube = connect({
    kubeconfig,
    context,
    userAgent: 'rukpak-crdvalidator',
  });
  try {
    const { client } = kube;
    await serveWebhooks(
      {
        ...flags,
        bindAddress: flags.webhookBindAddress,
        certificates: certificatesOf(flags, { client, logger }),
        routes: crdRoutes({ client, clock, logger, guardDeletion, defaultDeletionPolicy }),
        runnables: [],
        clock,
        logger,
      },
      signal,
    );
  } finally {
    await kube.close();
  }
}

function certificatesOf(
  flags: CrdvalidatorFlags,
  cluster: Pick<Parameters<typeof ownCertificates>[0], 'client' | 'logger'>,
): WebhookCertificates {
  const folder = flags.certDir ?? (existsSync(mountedFolder) ? mountedFolder : undefined);
  if (folder !== undefined) return mountedCertificates(folder, cluster.logger);
  const namespace = systemNamespaceOf(flags, 'crdvalidator-system');
  return ownCertificates({
    ...cluster,
    secret: { namespace, name: certificateSecretName },
    serviceName,
    hosts: flags.webhookHost,
    webhookConfigurations: crdWebhookConfigurations(flags.guardCrdDeletion),
  });
}
