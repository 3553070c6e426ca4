/** A valid notification (section 2.3). */
export const madeNotification = {
  id: "0f8fad5b-d9cb-469f-a165-70867728950e",
  accountId: "7C9E6679-7425-40DE-944B-E07FC1F90AE7",
  createTime: "2024-05-06T07:08:09.123Z",
  businessType: "CreateGlobalAccount",
  businessStatus: "Passed",
  remark: "",
  data: "",
  status: "readed",
} as const;
