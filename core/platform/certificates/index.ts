export { followCertificateFiles, readCertificateFiles } from './certificate-files.ts';
export { issueCertificateAuthority, issueServingCertificate, type KeyPair } from './issue.ts';
export {
  expiryOf,
  isAccepted,
  parseCertificate,
  parseCertificates,
  validAuthorities,
} from './pem.ts';
export { createCertificateRotation } from './rotation.ts';
export { ClientAuthorities, createTlsServer, type TlsFiles } from './tls-server.ts';
