export const certificateProviders = ['self', 'cert-manager', 'service-ca'] as const;

/** Who makes the certificates that objects of bundles are annotated to have. */
export type CertificateProvider = (typeof certificateProviders)[number];

export interface CertificateOptions {
  readonly provider: CertificateProvider;
  /** Milliseconds that a certificate of provider `self` is valid. */
  readonly lifetime: number;
}

const minute = 60_000;

/** Less leaves no time to roll out the next one. */
export const shortestLifetime = minute;

export const defaultCertificates: CertificateOptions = {
  provider: 'self',
  lifetime: 90 * 24 * 60 * minute,
};
