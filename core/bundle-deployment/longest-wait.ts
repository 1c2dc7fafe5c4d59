/** Milliseconds until a deployment is looked at again that waits for something of the cluster's. */
export const longestWait = 60_000;
