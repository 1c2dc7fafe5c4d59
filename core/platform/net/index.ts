export { type AddressPolicy, createAddressGuard, rangeProblem } from './address-policy.ts';
export { type ClientCertificate, createDispatcher } from './dispatcher.ts';
export {
  connectionCode,
  connectionProblem,
  type Failure,
  proxyProblem,
  RetryPolicy,
  requestError,
} from './failed-request.ts';
export { HostAddresses, matchesWildcard } from './hosts.ts';
export {
  createProxyChooser,
  isThisMachine,
  type ProxyChooser,
  type ProxyConfig,
  proxyFromEnvironment,
} from './proxy.ts';
export { isRedirect } from './redirects.ts';
