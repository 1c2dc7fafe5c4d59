export const certificateProviders = ['self', 'cert-manager', 'service-ca'] as const;

/** Issuer of the certificates that annotations of a bundle's objects ask for. */
export type CertificateProvider = (typeof certificateProviders)[number];

export interface CertificateOptions {
  readonly provider: CertificateProvider;
  /** Validity of a certificate of provider `self`, in milliseconds. */
  readonly lifetime: number;
}

const minute = 60_000;

/** A shorter validity leaves no time to roll out the next certificate. */
export const shortestLifetime = minute;

export const defaultCertificates: CertificateOptions = {
  provider: 'self',
  lifetime: 90 * 24 * 60 * minute,
};
